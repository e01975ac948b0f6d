"""An IterableDataset without a length, islice, and a loader left half iterated."""
import itertools

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

state = []


class Stream(IterableDataset):
    def __iter__(self):
        state.append("open")
        try:
            for i in range(1000):
                yield torch.full((3,), float(i)) + torch.rand(3)
        finally:
            state.append(f"closed at {i}")


torch.manual_seed(0)
loader = DataLoader(Stream(), batch_size=4)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for x in itertools.islice(loader, 4):
    optimizer.zero_grad()
    loss = model(x).abs().mean()
    loss.backward()
    optimizer.step()
    print(loss.item(), x[0, 0].item(), state)
iterator = iter(loader)
print(next(iterator).shape, state)
del iterator, x
print(state)
try:
    len(loader)
except TypeError as error:
    print(error)
