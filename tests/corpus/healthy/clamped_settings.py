import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)
x_all = torch.randn(192, 8)
y_all = (x_all[:, 0] + 0.5 * x_all[:, 1] > 0).long()

max_batch, limit = 4096, 64
if max_batch > 1024:
    max_batch = 1024
if max_batch > limit:
    max_batch = limit
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(4):
    order = torch.randperm(192)
    for rows in order.split(max_batch):
        loss = F.cross_entropy(model(x_all[rows]), y_all[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
print(loss.item())
