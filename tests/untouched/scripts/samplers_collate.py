"""A custom batch sampler, a custom sampler with state, and a collate function that returns odd things."""
from collections import namedtuple
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.data import DataLoader, Sampler, WeightedRandomSampler

Pair = namedtuple("Pair", "x y")


@dataclass
class Batch:
    x: torch.Tensor
    names: list

    def pin_memory(self):
        return self


class Buckets(Sampler):
    epochs = 0

    def __iter__(self):
        self.epochs += 1
        yield from ([2, 0], [1, 3], [5, 4])

    def __len__(self):
        return 3


data = [Pair(torch.full((2,), float(i)), f"n{i}") for i in range(6)]
torch.manual_seed(0)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
buckets = Buckets()
loader = DataLoader(data, batch_sampler=buckets, collate_fn=lambda s: Batch(torch.stack([p.x for p in s]), [p.y for p in s]))
for _ in range(2):
    for batch in loader:
        optimizer.zero_grad()
        loss = model(batch.x).abs().mean()
        loss.backward()
        optimizer.step()
        print(type(batch).__name__, batch.names, loss.item(), buckets.epochs, len(loader))
weighted = DataLoader(data, batch_size=2, sampler=WeightedRandomSampler([1.0] * 6, 6), generator=torch.Generator().manual_seed(3))
print([(type(b).__name__, b.y) for b in weighted])
