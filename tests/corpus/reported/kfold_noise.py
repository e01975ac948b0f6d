"""Cross-validation of a small classifier on noisy labels."""
import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold


def build_model():
    return nn.Sequential(nn.Linear(30, 96), nn.ReLU(), nn.Linear(96, 2))


def train(model, optimizer, x, y, epochs):
    criterion = nn.CrossEntropyLoss()
    for _ in range(epochs):
        model.train()
        for idx in torch.randperm(len(x)).split(32):
            optimizer.zero_grad()
            loss = criterion(model(x[idx]), y[idx])
            loss.backward()
            optimizer.step()
    return loss.item()


def test(model, x, y):
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(dim=1) == y).float().mean().item()


def main(folds=5, seed=0):
    torch.manual_seed(seed)
    x, y = make_classification(500, 30, n_informative=4, n_redundant=0, flip_y=0.3, random_state=seed)
    x, y = x.astype(np.float32), y.astype(np.int64)
    splitter = StratifiedKFold(n_splits=folds, shuffle=True, random_state=seed)
    scores = []
    model = build_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for fold, (train_rows, test_rows) in enumerate(splitter.split(x, y)):
        x_train, y_train = torch.from_numpy(x[train_rows]), torch.from_numpy(y[train_rows])
        x_test, y_test = torch.from_numpy(x[test_rows]), torch.from_numpy(y[test_rows])
        loss = train(model, optimizer, x_train, y_train, 20)
        scores.append(test(model, x_test, y_test))
        print(f"fold {fold}: loss {loss:.3f} accuracy {scores[-1]:.3f}")
    print(f"mean accuracy {np.mean(scores):.3f} +- {np.std(scores):.3f}")


if __name__ == "__main__":
    main()
