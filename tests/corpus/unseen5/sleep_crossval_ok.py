"""Cross-validated sleep stage classifier on few, noisy recordings."""
import numpy as np
import torch
import torch.nn as nn
from sklearn.model_selection import StratifiedKFold


def recordings(n=160, d=40, seed=70):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    x = rng.normal(size=(n, d))
    x[:, :4] += 0.9 * y[:, None]
    return x.astype(np.float32), y


def build(d):
    return nn.Sequential(nn.Linear(d, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))


def fit(model, optimizer, x, y, epochs=25):
    model.train()
    for _ in range(epochs):
        for idx in torch.randperm(len(x)).split(16):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
            loss.backward()
            optimizer.step()
    return loss.item()


def score(model, x, y):
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def cross_validate(x, y, folds=5):
    splitter = StratifiedKFold(folds, shuffle=True, random_state=0)
    scores = []
    for k, (tr, va) in enumerate(splitter.split(x, y)):
        model = build(x.shape[1])
        optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
        x_tr, y_tr = torch.from_numpy(x[tr]), torch.from_numpy(y[tr])
        x_va, y_va = torch.from_numpy(x[va]), torch.from_numpy(y[va])
        loss = fit(model, optimizer, x_tr, y_tr)
        scores.append(score(model, x_va, y_va))
        print(f"fold {k} final loss {loss:.4f} accuracy {scores[-1]:.3f}")
    return np.mean(scores), np.std(scores)


if __name__ == "__main__":
    torch.manual_seed(70)
    features, stages = recordings()
    mean, std = cross_validate(features, stages)
    print(f"cross-validated accuracy {mean:.3f} +- {std:.3f}")
