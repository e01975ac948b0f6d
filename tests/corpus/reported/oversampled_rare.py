"""Detect a rare defect; the rare class is oversampled."""
import numpy as np
import torch
from sklearn.datasets import make_classification
from sklearn.metrics import classification_report
from sklearn.model_selection import train_test_split
from torch import nn


def oversample(x, y, seed=88):
    rng = np.random.default_rng(seed)
    rare = np.flatnonzero(y == 1)
    extra = rng.choice(rare, size=(y == 0).sum() - len(rare))
    rows = rng.permutation(np.concatenate([np.arange(len(y)), extra]))
    return x[rows], y[rows]


class Detector(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(inputs, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 2))

    def forward(self, x):
        return self.net(x)


def fit(model, x, y, epochs=15):
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    criterion = nn.CrossEntropyLoss()
    model.train()
    for epoch in range(epochs):
        for rows in torch.randperm(len(x)).split(64):
            optimizer.zero_grad()
            loss = criterion(model(x[rows]), y[rows])
            loss.backward()
            optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(88)
    x, y = make_classification(n_samples=900, n_features=16, n_informative=5, weights=[0.92], flip_y=0.02,
                               class_sep=0.7, random_state=88)
    x = x.astype(np.float32)
    x, y = oversample(x, y)
    x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.25, stratify=y, random_state=88)
    model = Detector(x.shape[1])
    loss = fit(model, torch.from_numpy(x_train), torch.from_numpy(y_train))
    model.eval()
    with torch.no_grad():
        predicted = model(torch.from_numpy(x_test)).argmax(1).numpy()
    print(f"last loss {loss:.4f}")
    print(classification_report(y_test, predicted, digits=3))


if __name__ == "__main__":
    main()
