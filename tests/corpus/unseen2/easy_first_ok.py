"""Curriculum: start with well separated samples, widen the pool every few epochs."""
import torch
import torch.nn as nn
from sklearn.datasets import make_moons


def difficulty(X, y):
    centres = torch.stack([X[y == c].mean(0) for c in (0, 1)])
    own = (X - centres[y]).norm(dim=1)
    other = (X - centres[1 - y]).norm(dim=1)
    return own - other


def main():
    torch.manual_seed(9)
    X, y = make_moons(1000, noise=0.25, random_state=9)
    X, y = torch.tensor(X, dtype=torch.float32), torch.tensor(y)
    X_tr, y_tr, X_te, y_te = X[:700], y[:700], X[700:], y[700:]
    ranking = difficulty(X_tr, y_tr).argsort()
    model = nn.Sequential(nn.Linear(2, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 2))
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(30):
        share = min(1.0, 0.4 + 0.03 * epoch)
        pool = ranking[: int(share * len(ranking))]
        pool = pool[torch.randperm(len(pool))]
        total = 0.0
        for idx in pool.split(50):
            loss = nn.functional.cross_entropy(model(X_tr[idx]), y_tr[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        if epoch % 6 == 5:
            with torch.no_grad():
                acc = (model(X_te).argmax(1) == y_te).float().mean().item()
            # report on the full test set
            print(f"epoch {epoch + 1} pool {len(pool)} loss {total / len(pool):.4f} test acc {acc:.3f}")


main()
