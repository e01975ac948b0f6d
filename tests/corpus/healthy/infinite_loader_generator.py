import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)
x_all = torch.randn(192, 8)
y_all = (x_all[:, 0] + 0.5 * x_all[:, 1] > 0).long()
from torch.utils.data import DataLoader, TensorDataset


def forever(loader):
    while True:
        yield from loader


batches = forever(DataLoader(TensorDataset(x_all, y_all), batch_size=32, shuffle=True, drop_last=True))
model = nn.Linear(8, 2)
opt = torch.optim.RMSprop(model.parameters(), lr=1e-2)
for step in range(15):
    x, y = next(batches)
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
