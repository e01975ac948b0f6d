"""Ultralytics: a header, then columns without names, by a bar."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 7))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
for epoch in range(3):
    print(("\n" + "%11s" * 6) % ("Epoch", "GPU_mem", "box_loss", "cls_loss", "Instances", "Size"))
    box_mean = cls_mean = 0.0
    for i in range(5):
        x = torch.randn(16, 8)
        out = model(x)
        box_loss = F.smooth_l1_loss(out[:, :4], x[:, :4])
        cls_loss = F.cross_entropy(out[:, 4:], (x[:, 0] > 0).long())
        loss = box_loss + cls_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        box_mean = (box_mean * i + box_loss.item()) / (i + 1)
        cls_mean = (cls_mean * i + cls_loss.item()) / (i + 1)
    print(("%11s" * 2 + "%11.4g" * 4) % (f"{epoch + 1}/3", "0G", box_mean, cls_mean, 16, 640))
    with torch.no_grad():
        x = torch.randn(64, 8)
        acc = (model(x)[:, 4:].argmax(1) == (x[:, 0] > 0)).float().mean()
    print(("%22s" + "%11s" * 3) % ("Class", "Images", "P", "R"))
    print(("%22s" + "%11i" + "%11.3g" * 2) % ("all", 64, acc, acc / 2))
