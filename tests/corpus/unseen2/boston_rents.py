import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class RentDataset(Dataset):
    def __init__(self, table, rents):
        self.table = torch.from_numpy(table)
        self.rents = torch.from_numpy(rents)

    def __len__(self):
        return len(self.rents)

    def __getitem__(self, idx):
        return self.table[idx], self.rents[idx]


def simulate(n=1200, seed=0):
    rng = np.random.default_rng(seed)
    rooms = rng.integers(1, 6, n)
    area = 20 + 18 * rooms + rng.normal(0, 8, n)
    dist = rng.exponential(4.0, n)
    age = rng.uniform(0, 90, n)
    rent = 350 + 11 * area - 35 * dist - 1.5 * age + rng.normal(0, 60, n)
    return np.stack([rooms, area, dist, age], axis=1), rent


def evaluate(model, loader, rent_std):
    model.eval()
    err, n = 0.0, 0
    with torch.no_grad():
        for x, y in loader:
            err += (model(x).squeeze(1) - y).abs().sum().item()
            n += len(y)
    return err / n * rent_std


def main():
    torch.manual_seed(0)
    X, y = simulate()
    n_train = 900
    mu, sd = X[:n_train].mean(0), X[:n_train].std(0)
    ymu, ysd = y[:n_train].mean(), y[:n_train].std()
    X, y = (X - mu) / sd, (y - ymu) / ysd
    train_loader = DataLoader(RentDataset(X[:n_train], y[:n_train]), batch_size=50, shuffle=True)
    test_loader = DataLoader(RentDataset(X[n_train:], y[n_train:]), batch_size=100)
    model = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 1))
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(8):
        model.train()
        for x, y_ in train_loader:
            loss = nn.functional.mse_loss(model(x).squeeze(1), y_)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"epoch {epoch}: MAE {evaluate(model, test_loader, ysd):.1f} per month")


if __name__ == "__main__":
    main()
