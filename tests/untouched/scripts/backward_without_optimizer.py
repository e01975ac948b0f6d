# untouched: without dynamo
"""Gradient descent by hand under no_grad, without any optimizer; dynamo is never imported."""
import sys

import torch
import torch.nn.functional as F

torch.manual_seed(0)
w1, w2 = torch.randn(4, 8, requires_grad=True), torch.randn(8, 1, requires_grad=True)
x, y = torch.randn(16, 4), torch.randn(16, 1)
for step in range(8):
    loss = F.mse_loss(torch.tanh(x @ w1) @ w2, y)
    loss.backward()
    with torch.no_grad():
        for w in (w1, w2):
            w -= 0.05 * w.grad
            w.grad = None
    print(step, loss.item(), w1._version)
print("torch._dynamo" in sys.modules)
