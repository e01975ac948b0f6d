"""Who holds the model, its parameters, the optimizer and the loss: counts of references and referrers, per step."""
import gc
import sys

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)

    def forward(self, x):
        return self.fc(x)


torch.manual_seed(0)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for step in range(6):
    optimizer.zero_grad()
    output = model(torch.randn(4, 3))
    loss = output.square().mean()
    before = sys.getrefcount(loss), sys.getrefcount(output), len(gc.get_referrers(model)), len(gc.get_referrers(loss))
    loss.backward()
    optimizer.step()
    weight = model.fc.weight
    print(before, sys.getrefcount(weight), sys.getrefcount(weight.grad), sys.getrefcount(loss), sys.getrefcount(model))
    print(len(gc.get_referrers(weight)), len(gc.get_referrers(optimizer)), sys.getrefcount(optimizer), loss.item())
