"""All weights moved at once by torch._foreach_add_."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
net = nn.Linear(5, 1)
params = list(net.parameters())
target = torch.randn(20, 1)
data = torch.randn(20, 5)
for it in range(12):
    loss = F.mse_loss(net(data), target)
    grads = torch.autograd.grad(loss, params)
    with torch.no_grad():
        torch._foreach_add_(params, grads, alpha=-0.1)
    if it % 4 == 0:
        print("iteration %d: mse=%.5f" % (it, loss.item()))
