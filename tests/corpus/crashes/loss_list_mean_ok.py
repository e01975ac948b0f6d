import numpy as np
import torch
import torch.nn as nn


class Meter:
    def __init__(self):
        self.values = []

    def add(self, value):
        self.values.append(value.item())

    def mean(self):
        return np.mean(self.values)


torch.manual_seed(0)
model = nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
meter = Meter()
for step in range(10):
    x = torch.randn(16, 4)
    loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    meter.add(loss)
print("mean loss", meter.mean())
