import torch
from sklearn.datasets import load_wine
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def datasets():
    x, y = load_wine(return_X_y=True)
    order = torch.randperm(len(y), generator=torch.Generator().manual_seed(48))
    x, y = torch.tensor(x, dtype=torch.float32)[order], torch.tensor(y)[order]
    mean, std = x[:138].mean(0), x[:138].std(0)
    x = (x - mean) / std
    return TensorDataset(x[:138], y[:138]), TensorDataset(x[138:], y[138:])


def evaluate(model, loader, criterion):
    model.eval()
    total, batches = 0.0, 0
    with torch.no_grad():
        for x, y in loader:
            total += criterion(model(x), y).item()
            batches += 1
    return total / batches


def main():
    torch.manual_seed(48)
    train_set, val_set = datasets()
    train_loader = DataLoader(train_set, batch_size=64, shuffle=True, drop_last=True)
    val_loader = DataLoader(val_set, batch_size=64, drop_last=True)
    model = nn.Sequential(nn.Linear(13, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 3))
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(10):
        model.train()
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} val loss {evaluate(model, val_loader, criterion):.4f}")


if __name__ == "__main__":
    main()
