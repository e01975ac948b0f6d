"""Inner steps by autograd.grad, outer steps by an optimizer."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
w = nn.Parameter(torch.randn(5, 1) * 0.1)
meta = torch.optim.Adam([w], 0.01)
for it in range(8):
    outer = 0.0
    for task in range(3):
        true = torch.randn(5, 1)
        xs, xq = torch.randn(10, 5), torch.randn(10, 5)
        inner = F.mse_loss(xs @ w, xs @ true)
        (g,) = torch.autograd.grad(inner, w, create_graph=True)
        outer = outer + F.mse_loss(xq @ (w - 0.1 * g), xq @ true)
    meta.zero_grad()
    outer.backward()
    meta.step()
    if it % 2 == 0:
        print("Iteration", it, "Meta loss", round(outer.item(), 4))
