"""Modules with __call__ of their own, __getattr__, __setattr__, __slots__, properties and a metaclass."""
import torch
from torch import nn

log = []


class Loud(nn.Linear):
    def __call__(self, *args, **kwargs):
        log.append("call")
        return super().__call__(*args, **kwargs)


class Proxy(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            log.append(f"get {name}")
            return getattr(super().__getattr__("inner"), name)

    def forward(self, x):
        return self.inner(x) * self.in_features


class Strict(nn.Module):
    __slots__ = ("scale",)

    def __init__(self):
        super().__init__()
        self.scale = 0.5

    def __setattr__(self, name, value):
        log.append(f"set {name}")
        super().__setattr__(name, value)

    def __len__(self):
        return 0

    def forward(self, x):
        return x * self.scale


class Plain:
    def __call__(self, x):
        return x + 1


torch.manual_seed(0)
model = nn.Sequential(Proxy(Loud(3, 3)), Strict())
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
print(log)
log.clear()
for step in range(4):
    optimizer.zero_grad()
    loss = Plain()(model(torch.randn(2, 3))).square().mean()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), log)
    log.clear()
