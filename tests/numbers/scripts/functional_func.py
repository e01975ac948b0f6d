"""Training by torch.func: parameters are replaced, never changed."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
from torch.func import functional_call, grad_and_value

net = nn.Linear(5, 1)
params = {name: p.detach() for name, p in net.named_parameters()}
data, target = torch.randn(20, 5), torch.randn(20, 1)


def compute_loss(params):
    return F.mse_loss(functional_call(net, params, (data,)), target)


for step in range(9):
    grads, loss = grad_and_value(compute_loss)(params)
    params = {name: p - 0.1 * grads[name] for name, p in params.items()}
    if step % 3 == 0:
        print(f"step {step} | loss {loss.item():.6f}")
