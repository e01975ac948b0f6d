"""The user wraps step on the class and on the instance, as schedulers and libraries do."""

import functools
import types

import torch
from torch import nn

log = []
original = torch.optim.Adam.step


@functools.wraps(original)
def logged(self, closure=None):
    log.append("class")
    return original(self, closure)


torch.optim.Adam.step = logged
torch.manual_seed(0)
model = nn.Linear(4, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
inner = optimizer.step


def stepped(self, *args, **kwargs):
    log.append("instance")
    return inner(*args, **kwargs)


optimizer.step = types.MethodType(stepped, optimizer)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
for i in range(5):
    optimizer.zero_grad()
    loss = model(torch.randn(3, 4)).exp().mean()
    loss.backward()
    optimizer.step()
    scheduler.step()
    print(i, loss.item(), log, scheduler.get_last_lr())
    log.clear()
print("step" in vars(optimizer), torch.optim.Adam.step is logged, sorted(vars(torch.optim.Adam.step)))
