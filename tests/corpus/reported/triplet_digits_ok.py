"""Metric learning on the digits with triplets."""
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import Dataset, DataLoader


class Triplets(Dataset):
    """Yields (anchor, negative, positive) rows."""

    def __init__(self, x, y, seed):
        self.x, self.y = x, y
        g = torch.Generator().manual_seed(seed)
        same, other = [], []
        for i in range(len(y)):
            alike = (y == y[i]).nonzero().flatten()
            unlike = (y != y[i]).nonzero().flatten()
            same.append(alike[torch.randint(len(alike), (1,), generator=g)])
            other.append(unlike[torch.randint(len(unlike), (1,), generator=g)])
        self.same, self.other = torch.cat(same), torch.cat(other)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.x[self.other[i]], self.x[self.same[i]]


def knn_accuracy(model, x_ref, y_ref, x, y):
    model.eval()
    with torch.no_grad():
        distances = torch.cdist(model(x), model(x_ref))
    return (y_ref[distances.argmin(dim=1)] == y).float().mean().item()


def main():
    torch.manual_seed(0)
    data = load_digits()
    x = torch.tensor(data.data, dtype=torch.float32) / 16
    y = torch.tensor(data.target)
    order = torch.randperm(len(x))
    x, y = x[order], y[order]
    x_train, y_train, x_test, y_test = x[:1000], y[:1000], x[1000:], y[1000:]

    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))
    criterion = nn.TripletMarginLoss(margin=1.0)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loader = DataLoader(Triplets(x_train, y_train, seed=0), batch_size=50, shuffle=True)
    for epoch in range(8):
        model.train()
        total = 0.0
        for anchor, negative, positive in loader:
            loss = criterion(model(anchor), model(positive), model(negative))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(anchor)
        acc = knn_accuracy(model, x_train, y_train, x_test, y_test)
        print(f"epoch {epoch}: loss {total / len(x_train):.3f} nearest neighbour accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
