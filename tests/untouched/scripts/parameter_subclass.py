"""Parameters of a class with `__torch_function__` that counts and renames what it sees; plain tensors beside them."""
from collections import Counter

import torch
from torch import nn

seen = Counter()


class Counting(nn.Parameter):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        seen[getattr(func, "__name__", str(func))] += 1
        return super().__torch_function__(func, types, args, kwargs or {})


class Silent(torch.Tensor):
    __torch_function__ = torch._C._disabled_torch_function_impl


class Duck:
    """Not a tensor at all."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        seen["duck " + func.__name__] += 1
        return torch.ones(3)


torch.manual_seed(0)
weight = Counting(torch.randn(3, 2))
bias = nn.Parameter(torch.zeros(2))
optimizer = torch.optim.SGD([weight, bias], lr=0.1)
for step in range(5):
    seen.clear()
    optimizer.zero_grad()
    x = torch.randn(4, 3).as_subclass(Silent)
    output = x @ weight + bias
    loss = (output * torch.mul(Duck(), 2)[:2]).square().mean()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), type(output).__name__, sorted(seen.items()))
