"""A nested dictionary, pprint, and metrics of classes."""

from pprint import pprint

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
model = nn.Linear(6, 3)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
x = torch.randn(90, 6)
y = x[:, :3].argmax(1)
for epoch in range(3):
    for i in range(0, 60, 20):
        loss = F.cross_entropy(model(x[i : i + 20]), y[i : i + 20])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        pred = model(x[60:]).argmax(1)
    pprint(
        {
            "epoch": epoch,
            "train": {"loss": round(loss.item(), 4)},
            "val": {"acc": round((pred == y[60:]).float().mean().item(), 4)},
        }
    )
