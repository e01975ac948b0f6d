import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)
x_all = torch.randn(192, 8)
y_all = (x_all[:, 0] + 0.5 * x_all[:, 1] > 0).long()
from torch.utils.data import DataLoader, TensorDataset

train = DataLoader(TensorDataset(x_all[:160], y_all[:160]), batch_size=32, shuffle=True)
valid = DataLoader(TensorDataset(x_all[160:], y_all[160:]), batch_size=32)


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    right = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    model.train()
    return right / len(loader.dataset)


model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 2))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    for x, y in train:
        opt.zero_grad()
        F.cross_entropy(model(x), y).backward()
        opt.step()
    print(f"train {accuracy(model, train):.3f} valid {accuracy(model, valid):.3f}")
