"""Stochastic weight averaging with a constant SWA learning rate and update_bn at the end."""
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.optim.swa_utils import SWALR, AveragedModel, update_bn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(46)
d = load_digits()
x, y = torch.tensor(d.data / 16.0, dtype=torch.float32), torch.tensor(d.target)
perm = torch.randperm(len(x))
x, y = x[perm], y[perm]
train = DataLoader(TensorDataset(x[:1300], y[:1300]), batch_size=50, shuffle=True)
test = DataLoader(TensorDataset(x[1300:], y[1300:]), batch_size=250)

model = nn.Sequential(nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(),
                      nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 10))
swa_model = AveragedModel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=8)
swa_start, swa_scheduler = 6, SWALR(optimizer, swa_lr=0.05, anneal_epochs=2)


def accuracy(net):
    net.eval()
    with torch.no_grad():
        good = sum((net(a).argmax(1) == b).sum().item() for a, b in test)
    return good / len(test.dataset)


for epoch in range(10):
    model.train()
    for a, b in train:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(a), b)
        loss.backward()
        optimizer.step()
    if epoch >= swa_start:
        swa_model.update_parameters(model)
        swa_scheduler.step()
    else:
        scheduler.step()
    print(f"epoch {epoch} loss {loss.item():.4f} acc {accuracy(model):.4f}")
update_bn(train, swa_model)
print("swa accuracy", accuracy(swa_model))
