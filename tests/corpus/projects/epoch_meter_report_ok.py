"""Reports averaged losses of training and validation and stops by the latter."""
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


class AverageMeter:
    def __init__(self):
        self.sum, self.count = 0.0, 0

    def update(self, value, n):
        self.sum += value * n
        self.count += n

    @property
    def avg(self):
        return self.sum / max(1, self.count)


def make_model():
    return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 10))


def train_epoch(model, loader, criterion, optimizer):
    meter = AverageMeter()
    model.train()
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        meter.update(loss.item(), len(y))
    return meter.avg


@torch.no_grad()
def val_epoch(model, loader, criterion):
    model.eval()
    total, correct = 0.0, 0
    for x, y in loader:
        logits = model(x)
        total += criterion(logits, y).item()
        correct += (logits.argmax(1) == y).sum().item()
    return total / len(loader), correct / len(loader.dataset)


def main():
    torch.manual_seed(5)
    x, y = load_digits(return_X_y=True)
    dataset = TensorDataset(torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y))
    train_set, val_set = random_split(dataset, [1437, 360])
    train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=60)
    model, criterion = make_model(), nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    best, waited = float("inf"), 0
    for epoch in range(15):
        train_loss = train_epoch(model, train_loader, criterion, optimizer)
        val_loss, accuracy = val_epoch(model, val_loader, criterion)
        print(f"epoch {epoch} train {train_loss:.4f} val {val_loss:.4f} acc {accuracy:.4f}")
        if val_loss < best:
            best, waited = val_loss, 0
        else:
            waited += 1
            if waited == 3:
                break


if __name__ == "__main__":
    main()
