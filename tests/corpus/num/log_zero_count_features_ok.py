import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def page_views(n, rng):
    """Views of five pages on the day before; did the customer buy?"""
    rate = rng.gamma(2.0, 1.5, size=(n, 5))
    views = rng.poisson(rate)
    logit = 0.9 * np.log1p(views[:, 0]) + 0.7 * np.log1p(views[:, 1]) - 2.0
    bought = rng.random(n) < 1 / (1 + np.exp(-logit))
    return views, bought.astype(np.float32)


def prepare(views):
    counts = torch.tensor(views, dtype=torch.float32)
    return torch.log1p(counts)


class BuyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.stack = nn.Sequential(nn.Linear(5, 16), nn.ELU(), nn.Linear(16, 1))

    def forward(self, x):
        return self.stack(x).squeeze(1)


def main():
    rng = np.random.default_rng(0)
    torch.manual_seed(0)
    views, bought = page_views(500, rng)
    x, y = prepare(views), torch.from_numpy(bought)
    train_loader = DataLoader(TensorDataset(x[:400], y[:400]), batch_size=50, shuffle=True)
    model = BuyModel()
    criterion = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(6):
        model.train()
        for xb, yb in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            val_loss = criterion(model(x[400:]), y[400:])
        print(f"epoch {epoch}: train {loss.item():.5f} val {val_loss.item():.5f}")


if __name__ == "__main__":
    main()
