"""A small library that decorates whole classes, subclasses included, and keeps counts per class."""
import functools

import torch
from torch import nn

count = {}


def count_forward(cls):
    original = cls.forward

    @functools.wraps(original)
    def forward(self, *args, **kwargs):
        key = f"{type(self).__name__}/{cls.__name__}"
        count[key] = count.get(key, 0) + 1
        return original(self, *args, **kwargs)

    cls.forward = forward
    return cls


class Scaled(nn.Linear):
    def forward(self, x):
        return 2 * super().forward(x)


for cls in (nn.Linear, Scaled, nn.Sequential, nn.CrossEntropyLoss, nn.GRU):
    count_forward(cls)
torch.manual_seed(0)
gru = nn.GRU(3, 4, batch_first=True)
model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), Scaled(4, 2))
optimizer = torch.optim.SGD([*gru.parameters(), *model.parameters()], lr=0.1)
criterion = nn.CrossEntropyLoss()
for step in range(4):
    optimizer.zero_grad()
    out, _ = gru(torch.randn(2, 5, 3))
    loss = criterion(model(out[:, -1]), torch.tensor([0, 1]))
    loss.backward()
    optimizer.step()
    print(step, loss.item(), dict(sorted(count.items())))
