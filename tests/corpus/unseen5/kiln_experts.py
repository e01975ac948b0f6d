"""Mixture of experts predicting kiln temperature response."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Expert(nn.Module):
    def __init__(self, d_in, d_hidden):
        super().__init__()
        self.fc1 = nn.Linear(d_in, d_hidden)
        self.fc2 = nn.Linear(d_hidden, 1)

    def forward(self, x):
        return self.fc2(torch.tanh(self.fc1(x)))


class KilnMoE(nn.Module):
    def __init__(self, d_in=4, n_experts=4, d_hidden=16):
        super().__init__()
        self.gate = nn.Sequential(nn.Linear(d_in, 16), nn.ReLU(), nn.Linear(16, n_experts))
        self.experts = [Expert(d_in, d_hidden) for _ in range(n_experts)]

    def forward(self, x):
        weights = self.gate(x).softmax(dim=-1)
        outs = torch.stack([e(x) for e in self.experts], dim=-1).squeeze(1)
        return (weights * outs).sum(-1), weights


def kiln(n):
    x = torch.rand(n, 4) * 2 - 1
    firing = torch.where(x[:, 0] > 0, 3 * x[:, 1], -2 * x[:, 2] ** 2)
    return x, firing + 0.5 * x[:, 3] + 0.05 * torch.randn(n)


def main():
    torch.manual_seed(33)
    x, y = kiln(1000)
    x_val, y_val = kiln(300)
    model = KilnMoE()
    opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for epoch in range(25):
        for idx in torch.randperm(len(x)).split(100):
            pred, w = model(x[idx])
            importance = w.mean(0)
            balance = importance.var() / importance.mean() ** 2
            loss = F.mse_loss(pred, y[idx]) + 0.01 * balance
            opt.zero_grad()
            loss.backward()
            opt.step()
        if epoch % 6 == 0:
            with torch.no_grad():
                val = F.mse_loss(model(x_val)[0], y_val).item()
            print(f"epoch {epoch:2d} loss {loss.item():.4f} val mse {val:.4f}")
    with torch.no_grad():
        r2 = 1 - F.mse_loss(model(x_val)[0], y_val) / y_val.var()
    print(f"validation R2 {r2.item():.3f}")


if __name__ == "__main__":
    main()
