import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.amp import GradScaler, autocast
from torch.utils.data import DataLoader, TensorDataset


def build():
    return nn.Sequential(
        nn.Linear(64, 96),
        nn.ReLU(),
        nn.Linear(96, 10),
    )


def loaders(batch_size):
    x, y = load_digits(return_X_y=True)
    x_train, x_test, y_train, y_test = train_test_split(x / 16.0, y, test_size=0.25, random_state=1)
    train = TensorDataset(torch.tensor(x_train, dtype=torch.float32), torch.tensor(y_train))
    test = TensorDataset(torch.tensor(x_test, dtype=torch.float32), torch.tensor(y_test))
    return DataLoader(train, batch_size=batch_size, shuffle=True), DataLoader(test, batch_size=256)


def train_epoch(model, loader, optimizer, scaler, criterion):
    model.train()
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        with autocast("cpu", dtype=torch.float16):
            logits = model(x)
        loss = criterion(logits.float(), y)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        scaler.step(optimizer)
        scaler.update()
        total += loss.item()
    return total / len(loader)


@torch.no_grad()
def test_accuracy(model, loader):
    model.eval()
    hits = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    return hits / len(loader.dataset)


def main():
    torch.manual_seed(1)
    train_loader, test_loader = loaders(64)
    model = build()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
    scaler = GradScaler("cpu", init_scale=1024.0)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(6):
        loss = train_epoch(model, train_loader, optimizer, scaler, criterion)
        print(f"epoch {epoch}: loss {loss:.3f} accuracy {test_accuracy(model, test_loader):.3f}")


if __name__ == "__main__":
    main()
