"""Layers trained one after the other, each by its own goodness."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
layers = [nn.Linear(8, 16), nn.Linear(16, 16)]
opts = [torch.optim.Adam(layer.parameters(), 0.03) for layer in layers]
for epoch in range(4):
    pos, neg = torch.randn(32, 8) + 0.5, torch.randn(32, 8) - 0.5
    for i, (layer, opt) in enumerate(zip(layers, opts)):
        hp, hn = F.relu(layer(pos)), F.relu(layer(neg))
        loss = F.softplus(torch.cat([2 - hp.pow(2).mean(1), hn.pow(2).mean(1) - 2])).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        pos, neg = hp.detach(), hn.detach()
        print(f"epoch {epoch} layer{i} goodness loss {loss.item():.4f}")
