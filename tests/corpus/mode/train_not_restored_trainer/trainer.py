import torch


class Trainer:
    def __init__(self, model, optimizer, loss_fn, eval_every=15):
        self.model, self.optimizer, self.loss_fn = model, optimizer, loss_fn
        self.eval_every = eval_every
        self.global_step = 0

    def step(self, batch):
        x, y = batch
        self.optimizer.zero_grad()
        loss = self.loss_fn(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        self.global_step += 1
        return loss.item()

    def validate(self, loader):
        self.model.eval()
        total, count = 0.0, 0
        with torch.no_grad():
            for x, y in loader:
                total += self.loss_fn(self.model(x), y).item() * len(x)
                count += len(x)
        return total / count

    def fit(self, train_loader, val_loader, epochs):
        self.model.train()
        for _ in range(epochs):
            for batch in train_loader:
                loss = self.step(batch)
                if self.global_step % self.eval_every == 0:
                    print(f"step {self.global_step}: train {loss:.5f} val {self.validate(val_loader):.5f}")
