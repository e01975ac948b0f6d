"""A user class and a monkeypatch that both change how a DataLoader is iterated."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.arange(24.0).view(12, 2))
seen = []
original = DataLoader.__iter__


def numbered(self):
    seen.append("iter")
    for number, batch in enumerate(original(self)):
        yield number, batch


class Twice(DataLoader):
    def __iter__(self):
        for item in super().__iter__():
            yield item
            yield item


torch.manual_seed(0)
print([len(batch) for (batch,) in Twice(data, batch_size=6)])
DataLoader.__iter__ = numbered
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
loader = DataLoader(data, batch_size=4, shuffle=True)
for number, (x,) in loader:
    optimizer.zero_grad()
    loss = model(x).abs().mean()
    loss.backward()
    optimizer.step()
    print(number, x.sum().item(), loss.item(), seen)
print(type(iter(loader)).__name__, DataLoader.__iter__ is numbered)
DataLoader.__iter__ = original
print(type(iter(loader)).__name__)
