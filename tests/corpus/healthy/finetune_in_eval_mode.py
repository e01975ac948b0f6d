import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)
x_all = torch.randn(192, 8)
y_all = (x_all[:, 0] + 0.5 * x_all[:, 1] > 0).long()

backbone = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU())
head = nn.Linear(16, 2)
with torch.no_grad():
    backbone(x_all)  # statistics
backbone.eval()  # they stay as they are
opt = torch.optim.Adam([*backbone.parameters(), *head.parameters()], lr=5e-3)
for epoch in range(4):
    for rows in torch.randperm(160).split(32):
        loss = F.cross_entropy(head(backbone(x_all[rows])), y_all[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
with torch.no_grad():
    test = (head(backbone(x_all[160:])).argmax(1) == y_all[160:]).float().mean()
print(f"test accuracy {test:.3f}")
