"""Averages the weights of the last epochs with SWA."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.optim.swa_utils import SWALR, AveragedModel, update_bn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU()
        )
        self.out = nn.Linear(64, 10)

    def forward(self, x):
        return self.out(self.body(x))


def loaders():
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x, dtype=torch.float32), torch.tensor(y)
    train = TensorDataset(x[:1400], y[:1400])
    test = TensorDataset(x[1400:], y[1400:])
    return DataLoader(train, batch_size=70, shuffle=True), DataLoader(test, batch_size=200)


def evaluate(model, loader):
    model.eval()
    losses, hits = 0.0, 0
    with torch.no_grad():
        for x, y in loader:
            logits = model(x)
            losses += F.cross_entropy(logits, y, reduction="sum").item()
            hits += (logits.argmax(1) == y).sum().item()
    count = len(loader.dataset)
    return losses / count, hits / count


def main(epochs=8, swa_start=4):
    torch.manual_seed(12)
    train, test = loaders()
    model = Net()
    swa_model = AveragedModel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    swa_scheduler = SWALR(optimizer, swa_lr=0.05, anneal_epochs=2)
    for epoch in range(epochs):
        model.train()
        for x, y in train:
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
        if epoch >= swa_start:
            swa_model.update_parameters(model)
            swa_scheduler.step()
        else:
            scheduler.step()
        print(f"epoch {epoch} test {evaluate(model, test)[1]:.4f}")
    update_bn(train, swa_model)
    loss, accuracy = evaluate(swa_model, test)
    print(f"averaged: loss {loss:.4f} accuracy {accuracy:.4f}")


if __name__ == "__main__":
    main()
