"""Learning from crowd labels, weighting each sample by the reliability of its annotator."""
import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


def annotate(y, rng):
    """60 % of the labels come from a careless annotator who often writes the next digit."""
    careless = rng.random(len(y)) < 0.6
    slip = careless & (rng.random(len(y)) < 0.75)
    labels = np.where(slip, (y + 1) % 10, y)
    weight = np.where(careless, 0.05, 1.0)
    return labels, weight.astype(np.float32)


class Annotated:
    def __init__(self, seed=80):
        rng = np.random.default_rng(seed)
        d = load_digits()
        perm = rng.permutation(len(d.target))
        x, y = d.data[perm] / 16.0, d.target[perm]
        labels, weight = annotate(y[:1300], rng)
        self.x_train = torch.tensor(x[:1300], dtype=torch.float32)
        self.train = TensorDataset(self.x_train, torch.from_numpy(labels), torch.from_numpy(weight))
        self.x_test, self.y_test = torch.tensor(x[1300:], dtype=torch.float32), torch.from_numpy(y[1300:])


def main():
    torch.manual_seed(80)
    data = Annotated()
    loader = DataLoader(data.train, batch_size=50, shuffle=True)
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    criterion = nn.CrossEntropyLoss(reduction="none")
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(12):
        model.train()
        total = 0.0
        for x, y, w in loader:
            loss = (criterion(model(x), y) * w).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(y)
        model.eval()
        with torch.no_grad():
            acc = (model(data.x_test).argmax(1) == data.y_test).float().mean().item()
        if epoch % 3 == 2:
            print(f"epoch {epoch} weighted loss {total / len(data.train):.4f} clean test acc {acc:.4f}")


if __name__ == "__main__":
    main()
