import torch
from torch import nn
from torch.optim.swa_utils import SWALR, AveragedModel, update_bn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


def rings(n):
    r = torch.randint(0, 3, (n,))
    a = torch.rand(n) * 6.2832
    rad = (r + 1) * 0.6 + 0.1 * torch.randn(n)
    return torch.stack([rad * a.cos(), rad * a.sin()], 1), r


loader = DataLoader(TensorDataset(*rings(480)), batch_size=48, shuffle=True)
xv, yv = rings(200)
model = nn.Sequential(nn.Linear(2, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
swa_model = AveragedModel(model)
swa_start, swa_scheduler = 4, SWALR(optimizer, swa_lr=0.05, anneal_epochs=2)

for epoch in range(9):
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    if epoch >= swa_start:
        swa_model.update_parameters(model)
        swa_scheduler.step()
    print(f"epoch {epoch} loss {loss.item():.5f}")

update_bn(loader, swa_model)
swa_model.eval()
with torch.no_grad():
    print("swa accuracy", round((swa_model(xv).argmax(1) == yv).float().mean().item(), 4))
