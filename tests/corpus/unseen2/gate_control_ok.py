import torch
import torch.nn as nn


class GatedBlock(nn.Module):
    """Feature gate followed by a residual projection."""

    def __init__(self, dim):
        super().__init__()
        self.gate = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)
        self.norm = nn.LayerNorm(dim)

    def forward(self, x):
        g = torch.sigmoid(self.gate(x))
        g = g * self.value(x)
        return self.norm(x + g)


class GatedRegressor(nn.Module):
    def __init__(self, n_in, dim=32, depth=2):
        super().__init__()
        self.stem = nn.Linear(n_in, dim)
        self.blocks = nn.ModuleList([GatedBlock(dim) for _ in range(depth)])
        self.out = nn.Linear(dim, 1)

    def forward(self, x):
        x = self.stem(x)
        for b in self.blocks:
            x = b(x)
        return self.out(x).squeeze(-1)


def friedman(n, g):
    x = torch.rand(n, 10, generator=g)
    y = (10 * torch.sin(3.14159 * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2
         + 10 * x[:, 3] + 5 * x[:, 4] + 0.5 * torch.randn(n, generator=g))
    return x, y


def main():
    torch.manual_seed(3)
    g = torch.Generator().manual_seed(8)
    x_tr, y_tr = friedman(1500, g)
    x_te, y_te = friedman(400, g)
    mu, sd = y_tr.mean(), y_tr.std()
    model = GatedRegressor(10)
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(200):
        idx = torch.randint(0, len(x_tr), (64,))
        loss = nn.functional.mse_loss(model(x_tr[idx]), (y_tr[idx] - mu) / sd)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 50 == 0:
            print("step", step, "loss", f"{loss.item():.4f}")
    with torch.no_grad():
        err = (model(x_te) * sd + mu - y_te).pow(2).mean().sqrt()
    print("rmse", err.item())


if __name__ == "__main__":
    main()
