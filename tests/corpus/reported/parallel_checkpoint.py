import os
import tempfile

import torch
from sklearn.datasets import make_circles
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_model():
    return nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))


def circles():
    x, y = make_circles(n_samples=800, noise=0.08, factor=0.5, random_state=34)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y)


def train(path, x, y):
    wrapped = nn.DataParallel(make_model())
    optimizer = torch.optim.Adam(wrapped.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()
    loader = DataLoader(TensorDataset(x, y), batch_size=80, shuffle=True)
    for epoch in range(8):
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = criterion(wrapped(xb), yb)
            loss.backward()
            optimizer.step()
    print("final loss", loss.item())
    torch.save(wrapped.state_dict(), path)


def test(path, x, y):
    model = make_model()
    model.load_state_dict(torch.load(path, map_location="cpu"))
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(dim=1) == y).float().mean().item()


def main():
    torch.manual_seed(34)
    x, y = circles()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "circles.pt")
        train(path, x[:600], y[:600])
        print("test accuracy", test(path, x[600:], y[600:]))


if __name__ == "__main__":
    main()
