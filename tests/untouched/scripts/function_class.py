# untouched: without dynamo
# untouched: known in run, check, record: has_torch_function() of plain tensors is True while operations are followed
"""A class with __torch_function__ that is no tensor, beside real tensors, and has_torch_function."""
import torch
import torch.nn.functional as F
from torch.overrides import has_torch_function, is_tensor_like

log = []


class Lazy:
    def __init__(self, make):
        self.make = make

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        log.append((func.__name__, sorted(t.__name__ for t in types), len(args), sorted(kwargs or {})))
        solid = [a.make() if isinstance(a, Lazy) else a for a in args]
        return func(*solid, **(kwargs or {}))


torch.manual_seed(0)
lazy = Lazy(lambda: torch.ones(2, 3))
weight = torch.randn(4, 3, requires_grad=True)
for step in range(3):
    out = F.linear(lazy, weight)
    loss = torch.add(F.relu(out), 1, alpha=2).mean() + F.mse_loss(out, torch.zeros(2, 4)) + torch.sum(lazy, dim=0).sum()
    loss.backward()
    print(step, loss.item(), weight.grad.sum().item(), log)
    log.clear()
print(has_torch_function((lazy,)), is_tensor_like(lazy), has_torch_function((weight,)))
