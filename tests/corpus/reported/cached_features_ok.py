"""Cache a random feature map on disk and fit a linear classifier on it."""
import tempfile
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn


def compute(x, width=200, seed=43):
    rng = np.random.default_rng(seed)
    projection = rng.normal(0, 0.4, size=(x.shape[1], width))
    return np.maximum(x @ projection, 0).astype(np.float32)


def cached(folder, x):
    path = folder / "features.npy"
    if not path.exists():
        table = compute(x)
        np.save(path, table)
    return torch.from_numpy(np.load(path))


def main():
    torch.manual_seed(43)
    x, y = load_digits(return_X_y=True)
    y = torch.tensor(y)
    with tempfile.TemporaryDirectory() as name:
        features = cached(Path(name), x / 16.0)
    train, test = slice(0, 1400), slice(1400, None)
    mean, std = features[train].mean(0), features[train].std(0) + 1e-6
    features = (features - mean) / std
    model = nn.Linear(features.shape[1], 10)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(5):
        for rows in torch.randperm(1400).split(70):
            optimizer.zero_grad()
            loss = criterion(model(features[rows]), y[rows])
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            accuracy = (model(features[test]).argmax(1) == y[test]).float().mean().item()
        print(f"epoch {epoch} accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
