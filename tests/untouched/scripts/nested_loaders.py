"""A loader inside the loop of another, zip of two, cycle, and enumerate with a wrapper like tqdm."""
import itertools

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Bar:
    def __init__(self, iterable):
        self.iterable, self.seen, self.total = iterable, 0, len(iterable)

    def __iter__(self):
        for item in self.iterable:
            yield item
            self.seen += 1

    def __getattr__(self, name):
        return getattr(self.__dict__["iterable"], name)


torch.manual_seed(0)
outer = DataLoader(TensorDataset(torch.randn(6, 2)), batch_size=2, shuffle=True)
inner = DataLoader(TensorDataset(torch.randn(4, 2)), batch_size=2, shuffle=True)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
bar = Bar(outer)
for i, (a,) in enumerate(bar):
    total = 0.0
    for (b,) in inner:
        with torch.no_grad():
            total += model(b).sum().item()
    optimizer.zero_grad()
    loss = model(a).square().mean()
    loss.backward()
    optimizer.step()
    print(i, loss.item(), total, bar.seen, bar.batch_size, bar.total)
for (a,), (b,) in zip(outer, itertools.cycle(inner)):
    print((a.sum() * b.sum()).item())
print(torch.rand(1).item())
