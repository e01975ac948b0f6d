"""Quantile regression of avalanche run-out distance."""
import torch
import torch.nn as nn

QUANTILES = (0.1, 0.5, 0.9)


class QuantileNet(nn.Module):
    def __init__(self, n_in=3, hidden=48):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_in, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.heads = nn.Linear(hidden, len(QUANTILES))

    def forward(self, x):
        return self.heads(self.body(x))


def pinball(pred, target):
    losses = []
    for k, q in enumerate(QUANTILES):
        diff = target - pred[:, k]
        losses.append(torch.max(q * diff, (q - 1) * diff).mean())
    return torch.stack(losses).sum()


def runouts(n):
    slope = torch.rand(n) * 30 + 25
    depth = torch.rand(n) * 2
    wet = (torch.rand(n) < 0.4).float()
    mean = 0.05 * (slope - 25) + depth * (1 + wet)
    dist = mean + (0.2 + 0.4 * depth) * torch.randn(n)
    return torch.stack([(slope - 40) / 9, depth - 1, wet], 1), dist


class Trainer:
    def __init__(self, model, lr=3e-3):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)

    def fit(self, x, y, epochs, batch=128):
        for epoch in range(epochs):
            total = 0.0
            for idx in torch.randperm(len(x)).split(batch):
                loss = pinball(self.model(x[idx]), y[idx])
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                total += loss.item() * len(idx)
            if epoch % 5 == 0:
                print(f"epoch {epoch} pinball {total / len(x):.4f}")


def main():
    torch.manual_seed(26)
    x, y = runouts(2000)
    trainer = Trainer(QuantileNet())
    trainer.fit(x, y, epochs=16)
    x_te, y_te = runouts(1000)
    with torch.no_grad():
        pred = trainer.model(x_te)
    below = (y_te[:, None] <= pred).float().mean(0)
    inside = ((y_te >= pred[:, 0]) & (y_te <= pred[:, 2])).float().mean().item()
    print("fraction below each quantile", [round(b, 3) for b in below.tolist()])
    print("80% interval coverage", round(inside, 3))


if __name__ == "__main__":
    main()
