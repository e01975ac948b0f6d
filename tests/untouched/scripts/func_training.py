"""torch.func with an ensemble: stack_module_state, vmap over models, buffers."""
import copy

import torch
from torch import nn
from torch.func import functional_call, grad_and_value, stack_module_state, vmap

torch.manual_seed(0)
models = [nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)) for _ in range(3)]
params, buffers = stack_module_state(models)
params = {k: v.detach() for k, v in params.items()}
base = copy.deepcopy(models[0]).to("meta")


def loss_of(params, buffers, x, y):
    return (functional_call(base, (params, buffers), (x,)) - y).square().mean()


for step in range(4):
    x, y = torch.randn(5, 3), torch.randn(5, 1)
    grads, losses = vmap(grad_and_value(loss_of), (0, 0, None, None))(params, buffers, x, y)
    params = {k: v - 0.1 * grads[k] for k, v in params.items()}
    print(step, losses.tolist())
print(vmap(lambda p, b: loss_of(p, b, x, y))(params, buffers).tolist())
