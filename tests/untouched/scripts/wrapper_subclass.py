"""A __torch_dispatch__ wrapper subclass used as data and as parameter."""
import torch
import torch.utils._pytree as pytree
from torch import nn

ops = []


class Wrapped(torch.Tensor):
    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, requires_grad=False)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        ops.append(func.__name__)
        plain = pytree.tree_map_only(Wrapped, lambda w: w.inner, (args, kwargs or {}))
        out = func(*plain[0], **plain[1])
        return pytree.tree_map_only(torch.Tensor, Wrapped, out)


torch.manual_seed(0)
weight = torch.randn(3, 2)
for step in range(4):
    x = Wrapped(torch.randn(4, 3))
    out = (x @ Wrapped(weight)).relu().sum()
    print(step, type(out).__name__, out.inner.item(), ops)
    ops.clear()
model = nn.Linear(3, 2).requires_grad_(False)
print(type(model(Wrapped(torch.ones(1, 3)))).__name__, ops)
