import os
import tempfile
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def build_model():
    return nn.Sequential(nn.Linear(12, 40), nn.ReLU(), nn.Linear(40, 40), nn.ReLU(), nn.Linear(40, 1))


def make_data(n=600):
    g = torch.Generator().manual_seed(17)
    x = torch.randn(n, 12, generator=g)
    w = torch.randn(12, 1, generator=g)
    y = torch.tanh(x @ w) + 0.05 * torch.randn(n, 1, generator=g)
    return x, y


def train(model, loader, epochs):
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(epochs):
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
        print(f"epoch {epoch}: {total / len(loader.dataset):.4f}")


def main():
    torch.manual_seed(17)
    x, y = make_data()
    loader = DataLoader(TensorDataset(x[:500], y[:500]), batch_size=50, shuffle=True)
    model = nn.DataParallel(build_model())
    train(model, loader, 8)

    path = os.path.join(tempfile.mkdtemp(), "depot.pt")
    torch.save(model.state_dict(), path)

    restored = build_model()
    restored.load_state_dict(torch.load(path))
    restored.eval()
    with torch.no_grad():
        print("held-out mse", nn.functional.mse_loss(restored(x[500:]), y[500:]).item())


if __name__ == "__main__":
    main()
