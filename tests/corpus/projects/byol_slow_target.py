"""BYOL on digits: an online network predicts a slow copy of itself."""
import copy

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn


def mlp(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 96), nn.BatchNorm1d(96), nn.ReLU(), nn.Linear(96, outputs))


class BYOL(nn.Module):
    def __init__(self, tau=0.98):
        super().__init__()
        self.online = nn.Sequential(mlp(64, 64), mlp(64, 32))
        self.predictor = mlp(32, 32)
        self.target = copy.deepcopy(self.online).requires_grad_(False)
        self.tau = tau

    def loss(self, a, b):
        guess = F.normalize(self.predictor(self.online(a)), dim=1)
        with torch.no_grad():
            goal = F.normalize(self.target(b), dim=1)
        return 2 - 2 * (guess * goal).sum(1).mean()

    def forward(self, a, b):
        return 0.5 * (self.loss(a, b) + self.loss(b, a))

    @torch.no_grad()
    def follow(self):
        for slow, fast in zip(self.target.parameters(), self.online.parameters()):
            slow.lerp_(fast, 1 - self.tau)


def view(x):
    mask = (torch.rand_like(x) > 0.2).float()
    return x * mask + 0.1 * torch.randn_like(x)


def neighbors(model, x, y):
    model.eval()
    with torch.no_grad():
        features = F.normalize(model.online[0](x), dim=1)
    model.train()
    near = (features[1300:] @ features[:1300].T).argmax(1)
    return (y[:1300][near] == y[1300:]).float().mean().item()


def main(steps=150):
    torch.manual_seed(0)
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y)
    model = BYOL()
    trainable = [*model.online.parameters(), *model.predictor.parameters()]
    optimizer = torch.optim.Adam(trainable, lr=1e-3)
    for step in range(steps):
        batch = x[torch.randint(0, 1300, (128,))]
        loss = model(view(batch), view(batch))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        model.follow()
        if step % 50 == 49:
            print(f"step {step} loss {loss.item():.4f} nearest {neighbors(model, x, y):.4f}")


if __name__ == "__main__":
    main()
