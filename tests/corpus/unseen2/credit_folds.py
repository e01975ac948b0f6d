import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import make_classification
from sklearn.model_selection import KFold

torch.manual_seed(0)


def create_model():
    net = nn.Sequential(nn.Linear(30, 128), nn.ReLU(), nn.Linear(128, 1))
    return net, torch.optim.Adam(net.parameters(), lr=5e-3)


def train_fold(net, opt, X, y, epochs=40):
    loss_fn = nn.BCEWithLogitsLoss()
    net.train()
    for _ in range(epochs):
        for idx in torch.randperm(len(X)).split(64):
            loss = loss_fn(net(X[idx]).squeeze(1), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
    return loss.item()


def score(net, X, y):
    net.eval()
    with torch.no_grad():
        return ((net(X).squeeze(1) > 0).float() == y).float().mean().item()


def main():
    X, y = make_classification(n_samples=500, n_features=30, n_informative=6, flip_y=0.3, random_state=1)
    X = torch.tensor(X, dtype=torch.float32)
    y = torch.tensor(y, dtype=torch.float32)
    kfold = KFold(n_splits=5, shuffle=True, random_state=0)
    scores = []
    model, optimizer = create_model()
    for fold, (train_ids, val_ids) in enumerate(kfold.split(X)):
        last = train_fold(model, optimizer, X[train_ids], y[train_ids])
        acc = score(model, X[val_ids], y[val_ids])
        scores.append(acc)
        print(f"fold {fold}: train loss {last:.4f} val accuracy {acc:.3f}")
    print(f"cross-validated accuracy {np.mean(scores):.3f} +- {np.std(scores):.3f}")


if __name__ == "__main__":
    main()
