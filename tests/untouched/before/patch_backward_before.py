"""A package that wraps Tensor.backward and Optimizer.step as soon as it is loaded."""

import functools

import torch

seen = []


def counted(name, function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        seen.append(name)
        return function(*args, **kwargs)

    return wrapper


torch.Tensor.backward = counted("backward", torch.Tensor.backward)
torch.autograd.backward = counted("autograd.backward", torch.autograd.backward)
torch.nn.Module.zero_grad = counted("zero_grad", torch.nn.Module.zero_grad)
torch.optim.SGD.step = counted("step", torch.optim.SGD.step)
mine = torch.Tensor.backward
