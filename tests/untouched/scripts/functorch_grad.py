"""vmap, grad, jvp, vjp, jacrev and a training step written with torch.func only."""

import torch
from torch import nn
from torch.func import functional_call, grad, grad_and_value, hessian, jacrev, jvp, vjp, vmap

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
weights = {name: value.detach().clone() for name, value in model.named_parameters()}


def loss_of(weights, x, y):
    return (functional_call(model, weights, (x,)) - y).square().mean()


for step in range(4):
    x, y = torch.randn(5, 3), torch.randn(5, 1)
    slopes, loss = grad_and_value(loss_of)(weights, x, y)
    weights = {name: value - 0.1 * slopes[name] for name, value in weights.items()}
    print(step, loss.item())
each = vmap(grad(loss_of), in_dims=(None, 0, 0))(weights, x, y)
print({name: tuple(value.shape) for name, value in each.items()})
print(vmap(torch.dot)(torch.ones(2, 3), torch.ones(2, 3)).tolist())
print(jvp(torch.sin, (torch.ones(2),), (torch.ones(2),)), vjp(torch.exp, torch.zeros(2))[1](torch.ones(2)))
print(jacrev(lambda v: v**2)(torch.arange(3.0)), hessian(lambda v: (v**3).sum())(torch.arange(2.0)))
print(vmap(lambda r: torch.rand(2) + r, randomness="different")(torch.zeros(3)).tolist())
