import torch
from torch import nn

torch.manual_seed(11)


class SharedNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(12, 48), nn.Tanh())
        self.price = nn.Linear(48, 1)
        self.kind = nn.Linear(48, 4)

    def forward(self, x):
        h = self.trunk(x)
        return self.price(h).squeeze(1), self.kind(h)


def make_data(n):
    g = torch.Generator().manual_seed(n)
    x = torch.randn(n, 12, generator=g)
    price = x[:, 0] * 1.5 - x[:, 1] * x[:, 2] + 0.1 * torch.randn(n, generator=g)
    kind = (x[:, 3] > 0).long() * 2 + (x[:, 4] > 0).long()
    return x, price, kind


class Trainer:
    def __init__(self, model, lr=1e-2):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        self.mse = nn.MSELoss()
        self.ce = nn.CrossEntropyLoss()

    def losses(self, batch):
        x, price, kind = batch
        p, k = self.model(x)
        return [self.mse(p, price), self.ce(k, kind)]

    def train_step(self, batch):
        weights = torch.tensor([1.0, 0.5])
        parts = self.losses(batch)
        total = (torch.tensor(parts, requires_grad=True) * weights).sum()
        self.opt.zero_grad()
        total.backward()
        self.opt.step()
        return total.item()


x, price, kind = make_data(800)
test = make_data(300)
trainer = Trainer(SharedNet())
for step in range(200):
    idx = torch.randint(0, 800, (64,))
    loss = trainer.train_step((x[idx], price[idx], kind[idx]))
    if step % 50 == 0:
        print("step", step, "loss", round(loss, 4))
with torch.no_grad():
    mse, ce = trainer.losses(test)
    acc = (trainer.model(test[0])[1].argmax(1) == test[2]).float().mean()
print(f"test mse {mse:.4f} kind accuracy {acc:.3f}")
