import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torch.utils.data import DataLoader, TensorDataset, random_split


def make_loaders():
    x, y = load_digits(return_X_y=True)
    data = TensorDataset(torch.tensor(x, dtype=torch.float32) / 16, torch.tensor(y))
    train, val = random_split(data, [1300, 497], generator=torch.Generator().manual_seed(0))
    return DataLoader(train, batch_size=100, shuffle=True), DataLoader(val, batch_size=500)


def run_epoch(model, loader, criterion, optimizer=None):
    model.train(optimizer is not None)
    total_loss, correct = 0.0, 0
    with torch.set_grad_enabled(optimizer is not None):
        for x, y in loader:
            out = model(x)
            loss = criterion(out, y)
            if optimizer is not None:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            total_loss += loss.item() * len(x)
            correct += (out.argmax(dim=1) == y).sum().item()
    n = len(loader.dataset)
    return total_loss / n, correct / n


def main():
    torch.manual_seed(0)
    train_loader, val_loader = make_loaders()
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = ReduceLROnPlateau(optimizer, mode="max", factor=0.1, patience=1)
    for epoch in range(12):
        train_loss, _ = run_epoch(model, train_loader, criterion, optimizer)
        val_loss, val_acc = run_epoch(model, val_loader, criterion)
        scheduler.step(val_acc)
        lr = optimizer.param_groups[0]["lr"]
        print(f"epoch {epoch} train {train_loss:.3f} val {val_loss:.3f} acc {val_acc:.3f} lr {lr:.5f}")


if __name__ == "__main__":
    main()
