# untouched: without dynamo
"""MAML-like inner loops with autograd.grad and functional weights; no optimizer, no backward()."""
import torch
import torch.nn.functional as F

torch.manual_seed(0)
meta = [torch.randn(4, 3, requires_grad=True), torch.randn(1, 4, requires_grad=True)]


def net(weights, x):
    return F.linear(torch.tanh(F.linear(x, weights[0])), weights[1])


for outer in range(4):
    total = 0
    for task in range(2):
        weights = meta
        x, y = torch.randn(5, 3), torch.randn(5, 1)
        for _ in range(2):
            inner = F.mse_loss(net(weights, x), y)
            grads = torch.autograd.grad(inner, weights, create_graph=True)
            weights = [w - 0.1 * g for w, g in zip(weights, grads)]
        total = total + F.mse_loss(net(weights, x), y)
    grads = torch.autograd.grad(total, meta)
    meta = [(w - 0.05 * g).detach().requires_grad_() for w, g in zip(meta, grads)]
    print(outer, total.item(), [g.norm().item() for g in grads])
