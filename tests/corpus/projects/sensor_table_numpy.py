"""Detects machine states from sensor tables kept in numpy."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def simulate(count, seed):
    rng = np.random.default_rng(seed)
    state = rng.integers(0, 4, count)
    means = np.array([[0.0, 1, 2, 3], [1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]])
    return means[state] + rng.normal(0, 0.6, (count, 4)), state


class Scaler:
    def fit(self, table):
        self.mean, self.std = table.mean(axis=0), table.std(axis=0)
        return self

    def transform(self, table):
        return (table - self.mean) / self.std


class Sensors(Dataset):
    def __init__(self, table, state, scaler):
        self.table = torch.from_numpy(scaler.transform(table))
        self.state = torch.from_numpy(state)

    def __len__(self):
        return len(self.state)

    def __getitem__(self, index):
        return self.table[index], self.state[index]


class StateNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 4))

    def forward(self, x):
        return self.layers(x)


def train(model, loader, epochs):
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(epochs):
        hits = 0
        for table, state in loader:
            logits = model(table)
            loss = criterion(logits, state)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            hits += (logits.argmax(1) == state).sum().item()
        print(f"epoch {epoch} accuracy {hits / len(loader.dataset):.4f}")


def main():
    torch.manual_seed(0)
    table, state = simulate(1000, 0)
    scaler = Scaler().fit(table)
    loader = DataLoader(Sensors(table, state, scaler), batch_size=50, shuffle=True)
    train(StateNet(), loader, epochs=5)


if __name__ == "__main__":
    main()
