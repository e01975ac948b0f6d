"""Train, keep the best weights on validation, then test."""
import copy

import torch
from sklearn.datasets import make_moons
from torch import nn


def split(seed=24):
    x, y = make_moons(n_samples=900, noise=0.2, random_state=seed)
    x, y = torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)
    return (x[:600], y[:600]), (x[600:750], y[600:750]), (x[750:], y[750:])


def accuracy(model, pair):
    x, y = pair
    model.eval()
    with torch.no_grad():
        return ((model(x).squeeze(1) > 0).float() == y).float().mean().item()


def fit(model, train, validation, epochs=12):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    criterion = nn.BCEWithLogitsLoss()
    best, best_score = copy.deepcopy(model.state_dict()), 0.0
    for epoch in range(epochs):
        model.train()
        for rows in torch.randperm(len(train[0])).split(50):
            optimizer.zero_grad()
            loss = criterion(model(train[0][rows]).squeeze(1), train[1][rows])
            loss.backward()
            optimizer.step()
        score = accuracy(model, validation)
        if score > best_score:
            best, best_score = copy.deepcopy(model.state_dict()), score
    print(f"best validation accuracy {best_score:.3f}")
    model = model.load_state_dict(best)
    return model


if __name__ == "__main__":
    torch.manual_seed(24)
    train, validation, test = split()
    net = nn.Sequential(nn.Linear(2, 24), nn.ReLU(), nn.Dropout(0.1), nn.Linear(24, 1))
    net = fit(net, train, validation)
    print(f"test accuracy {accuracy(net, test):.3f}")
