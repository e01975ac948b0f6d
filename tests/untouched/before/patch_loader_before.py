"""A library that replaces DataLoader.__iter__ and Optimizer.zero_grad before anything is started."""
import torch
from torch.utils.data import DataLoader

seen = []
iter_before, zero_before = DataLoader.__iter__, torch.optim.Optimizer.zero_grad


def __iter__(self):
    seen.append("iter")
    return iter_before(self)


def zero_grad(self, set_to_none=True):
    seen.append("zero_grad")
    return zero_before(self, set_to_none)


DataLoader.__iter__ = __iter__
torch.optim.Optimizer.zero_grad = zero_grad
