"""Cross-validated accuracy of an MLP on noisy two-class data."""
import numpy as np
import torch
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold
from torch import nn


def make_model():
    return nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))


def train(model, x, y, epochs=25):
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    criterion = nn.CrossEntropyLoss()
    model.train()
    for _ in range(epochs):
        for rows in torch.randperm(len(x)).split(40):
            optimizer.zero_grad()
            criterion(model(x[rows]), y[rows]).backward()
            optimizer.step()


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(84)
    x, y = make_classification(n_samples=400, n_features=20, n_informative=5, flip_y=0.15, random_state=84)
    features = torch.tensor(x, dtype=torch.float32)
    labels = torch.tensor(y)
    folds = StratifiedKFold(n_splits=5, shuffle=True, random_state=84)
    model = make_model()
    scores = []
    for fold, (train_rows, val_rows) in enumerate(folds.split(x, y)):
        train(model, features[train_rows], labels[train_rows])
        scores.append(accuracy(model, features[val_rows], labels[val_rows]))
        print(f"fold {fold} accuracy {scores[-1]:.3f}")
    print(f"mean accuracy {np.mean(scores):.3f} +- {np.std(scores):.3f}")


if __name__ == "__main__":
    main()
