import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 16))

    def forward(self, x):
        return self.net(x)


def distance(a, b):
    return torch.sqrt(((a - b) ** 2).sum(dim=1))


def contrastive_loss(a, b, same, margin=2.0):
    d = distance(a, b)
    pull = same * d ** 2
    push = (1 - same) * torch.clamp(margin - d, min=0) ** 2
    return (pull + push).mean()


def sample_pairs(X, y, n, rng):
    i = rng.integers(0, len(y), n)
    j = i.copy()
    for k in range(n):
        pool = np.flatnonzero(y == y[i[k]]) if rng.random() < 0.5 else np.flatnonzero(y != y[i[k]])
        j[k] = rng.choice(pool)
    same = torch.tensor((y[i] == y[j]).astype(np.float32))
    return X[i], X[j], same


def main():
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    d = load_digits()
    X, y = torch.tensor(d.data / 16.0, dtype=torch.float32), d.target
    X_tr, y_tr, X_te, y_te = X[:1300], y[:1300], X[1300:], y[1300:]
    net = Embedder()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for step in range(300):
        a, b, same = sample_pairs(X_tr, y_tr, 64, rng)
        loss = contrastive_loss(net(a), net(b), same)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 50 == 0:
            print(f"step {step} loss {loss.item():.4f}")
    with torch.no_grad():
        a, b, same = sample_pairs(X_te, y_te, 500, rng)
        pred = (distance(net(a), net(b)) < 1.0).float()
    print("pair accuracy", (pred == same).float().mean().item())


if __name__ == "__main__":
    main()
