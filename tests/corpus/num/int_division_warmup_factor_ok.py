import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def warmup_then_hold(warmup_steps):
    def factor(step):
        return min(1.0, (step + 1) / warmup_steps)
    return factor


def synthetic(n=400):
    x = torch.randn(n, 12)
    w = torch.randn(12, 3)
    return x, (x @ w + 0.2 * torch.randn(n, 3)).argmax(dim=1)


class Trainer:
    def __init__(self, model, loader, epochs, lr, warmup_share=0.5):
        self.model, self.loader, self.epochs = model, loader, epochs
        self.opt = torch.optim.AdamW(model.parameters(), lr=lr)
        warmup_steps = int(warmup_share * epochs * len(loader))
        self.sched = torch.optim.lr_scheduler.LambdaLR(self.opt, warmup_then_hold(warmup_steps))
        self.loss_fn = nn.CrossEntropyLoss()

    def run(self):
        for epoch in range(self.epochs):
            for x, y in self.loader:
                loss = self.loss_fn(self.model(x), y)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                self.sched.step()
            print(f"epoch {epoch} loss {loss.item():.5f} lr {self.sched.get_last_lr()[0]:.6f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(*synthetic()), batch_size=40, shuffle=True)
    Trainer(nn.Sequential(nn.Linear(12, 32), nn.GELU(), nn.Linear(32, 3)), loader, epochs=8, lr=5e-3).run()
