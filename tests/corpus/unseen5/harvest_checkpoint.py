"""Crop yield regression that keeps the best validation weights (noisy, overfitting regime)."""
import copy

import torch
import torch.nn as nn


class YieldNet(nn.Module):
    def __init__(self, d=20, h=128):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(d, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, 1))

    def forward(self, x):
        return self.layers(x).squeeze(-1)


def fields(n):
    x = torch.randn(n, 20)
    y = 1.5 * x[:, 0] - x[:, 1] * 0.8 + 1.2 * torch.randn(n)
    return x, y


class BestKeeper:
    def __init__(self):
        self.score, self.state, self.epoch = float("inf"), None, -1

    def update(self, score, model, epoch):
        if score < self.score:
            self.score, self.epoch = score, epoch
            self.state = model.state_dict()

    def restore(self, model):
        model.load_state_dict(self.state)


@torch.no_grad()
def mse(model, x, y):
    model.eval()
    out = nn.functional.mse_loss(model(x), y).item()
    model.train()
    return out


def main():
    torch.manual_seed(15)
    x_tr, y_tr = fields(120)
    x_va, y_va = fields(300)
    x_te, y_te = fields(600)
    model, keeper = YieldNet(), BestKeeper()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(80):
        for idx in torch.randperm(120).split(20):
            loss = nn.functional.mse_loss(model(x_tr[idx]), y_tr[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
        val = mse(model, x_va, y_va)
        keeper.update(val, model, epoch)
        if epoch % 20 == 0:
            print(f"epoch {epoch} train {loss.item():.3f} val {val:.3f}")
    keeper.restore(model)
    print(f"best epoch {keeper.epoch} best val {keeper.score:.4f} restored val {mse(model, x_va, y_va):.4f}")
    print(f"test mse {mse(model, x_te, y_te):.4f}")


if __name__ == "__main__":
    main()
