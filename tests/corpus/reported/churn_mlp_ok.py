"""Churn prediction with a balanced data set."""
import numpy as np
import torch
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from torch import nn

SEED = 9


def customers(n=1200):
    rng = np.random.default_rng(SEED)
    x = rng.normal(size=(n, 20)).astype(np.float32)
    score = x[:, 0] + 0.5 * x[:, 1] + 2.0 * rng.normal(size=n)
    y = (score > np.quantile(score, 0.92)).astype(np.int64)
    return x, y


def oversample(x, y):
    rng = np.random.default_rng(SEED)
    rare = np.flatnonzero(y == 1)
    extra = rng.choice(rare, size=(y == 0).sum() - len(rare), replace=True)
    keep = np.concatenate([np.arange(len(y)), extra])
    return x[keep], y[keep]


def train(model, x, y, epochs=25):
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    x, y = torch.from_numpy(x), torch.from_numpy(y)
    for epoch in range(epochs):
        model.train()
        for idx in torch.randperm(len(x)).split(128):
            loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(SEED)
    x, y = customers()
    x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.3, random_state=SEED, stratify=y)
    x_train, y_train = oversample(x_train, y_train)
    print("train", np.bincount(y_train), "test", np.bincount(y_test))
    model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 2))
    print("final training loss", round(train(model, x_train, y_train), 3))
    model.eval()
    with torch.no_grad():
        predicted = model(torch.from_numpy(x_test)).argmax(dim=1).numpy()
    print("test F1 of churn", round(float(f1_score(y_test, predicted)), 3))


if __name__ == "__main__":
    main()
