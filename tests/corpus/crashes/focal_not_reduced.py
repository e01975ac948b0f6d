import torch
import torch.nn as nn
import torch.nn.functional as F


class FocalLoss(nn.Module):
    def __init__(self, gamma=2.0):
        super().__init__()
        self.gamma = gamma

    def forward(self, logits, target):
        ce = F.cross_entropy(logits, target, reduction="none")
        pt = torch.exp(-ce)
        return (1 - pt) ** self.gamma * ce


def rare_points(n):
    y = (torch.rand(n) < 0.1).long()
    return torch.randn(n, 8) + y[:, None] * 1.5, y


torch.manual_seed(3)
x, y = rare_points(1000)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
criterion = FocalLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(5):
    for rows in torch.randperm(1000).split(50):
        optimizer.zero_grad()
        loss = criterion(net(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
    print("epoch", epoch, "loss", loss.item())
