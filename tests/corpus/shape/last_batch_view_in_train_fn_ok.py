import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

CFG = {"batch_size": 50, "lr": 0.05, "epochs": 4, "momentum": 0.9}


def get_loaders(cfg):
    imgs, labels = load_digits(return_X_y=True)
    imgs = torch.tensor(imgs.reshape(-1, 8, 8), dtype=torch.float32) / 16
    labels = torch.tensor(labels)
    tr_x, va_x, tr_y, va_y = train_test_split(imgs, labels, test_size=400, random_state=0)
    return (
        DataLoader(TensorDataset(tr_x, tr_y), batch_size=cfg["batch_size"], shuffle=True),
        DataLoader(TensorDataset(va_x, va_y), batch_size=cfg["batch_size"]),
    )


def train_one_epoch(model, loader, loss_fn, optimizer, cfg):
    model.train()
    total = 0.0
    for images, labels in loader:
        images = images.view(images.size(0), -1)
        logits = model(images)
        loss = loss_fn(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(loader)


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    right = total = 0
    for images, labels in loader:
        pred = model(images.flatten(1)).argmax(dim=1)
        right += (pred == labels).sum().item()
        total += labels.numel()
    return right / total


def main(cfg):
    torch.manual_seed(2)
    train_loader, val_loader = get_loaders(cfg)
    model = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Dropout(0.2), nn.Linear(48, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=cfg["lr"], momentum=cfg["momentum"], nesterov=True)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(cfg["epochs"]):
        loss = train_one_epoch(model, train_loader, loss_fn, optimizer, cfg)
        print(f"epoch {epoch} train_loss {loss:.6f} val_acc {accuracy(model, val_loader):.4f}")


main(CFG)
