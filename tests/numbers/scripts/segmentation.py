"""Pixel accuracy and mean IoU of maps."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
from torch.utils.data import DataLoader, TensorDataset

images = torch.randn(48, 3, 8, 8)
masks = (images.sum(1) > 0).long()
train, val = TensorDataset(images[:32], masks[:32]), TensorDataset(images[32:], masks[32:])
net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 2, 1))
opt = torch.optim.Adam(net.parameters(), 0.01)
for epoch in range(3):
    net.train()
    for xb, yb in DataLoader(train, 8):
        loss = F.cross_entropy(net(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    right = pixels = inter = union = 0
    with torch.no_grad():
        for xb, yb in DataLoader(val, 8):
            pred = net(xb).argmax(1)
            right += (pred == yb).sum().item()
            pixels += yb.numel()
            inter += ((pred == 1) & (yb == 1)).sum().item()
            union += ((pred == 1) | (yb == 1)).sum().item()
    print(
        f"Epoch {epoch + 1}: train loss {loss.item():.4f} | pixel acc {right / pixels:.4f} | IoU {inter / max(union, 1):.4f}"
    )
