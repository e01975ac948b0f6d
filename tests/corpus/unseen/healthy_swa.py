import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.optim.swa_utils import SWALR, AveragedModel, update_bn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
X = torch.tensor(d.images / 16.0, dtype=torch.float32).unsqueeze(1)
y = torch.tensor(d.target)
loader = DataLoader(TensorDataset(X[:1400], y[:1400]), batch_size=50, shuffle=True)


def make():
    return nn.Sequential(
        nn.Conv2d(1, 12, 3, padding=1, bias=False), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(12, 24, 3, padding=1, bias=False), nn.BatchNorm2d(24), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
        nn.Flatten(), nn.Linear(96, 10))


@torch.no_grad()
def accuracy(m):
    m.eval()
    return (m(X[1400:]).argmax(1) == y[1400:]).float().mean().item()


model = make()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
swa_model = AveragedModel(model)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=8)
swa_scheduler = SWALR(optimizer, swa_lr=0.05, anneal_epochs=2)
swa_start = 5
for epoch in range(9):
    model.train()
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()
    if epoch >= swa_start:
        swa_model.update_parameters(model)
        swa_scheduler.step()
    else:
        scheduler.step()
    print(f"epoch {epoch} lr {optimizer.param_groups[0]['lr']:.4f} loss {loss.item():.4f} acc {accuracy(model):.4f}")
update_bn(loader, swa_model)
print("swa accuracy", accuracy(swa_model))
