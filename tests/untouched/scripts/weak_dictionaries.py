"""Tensors and modules as keys of weak dictionaries and sets; ids are reused; __del__ runs on time."""
import weakref

import torch
from torch import nn

events = []


class Layer(nn.Linear):
    def __del__(self):
        events.append(f"del {self.out_features}")


torch.manual_seed(0)
names = weakref.WeakKeyDictionary()
alive = weakref.WeakSet()
for step in range(4):
    layer = Layer(3, step + 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    names[layer] = step
    alive.add(optimizer)
    optimizer.zero_grad()
    loss = layer(torch.randn(2, 3)).square().mean()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), len(names), len(alive), events)
del layer, loss
print(len(names), events)
