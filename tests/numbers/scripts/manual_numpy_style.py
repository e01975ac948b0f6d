"""Weights and gradients by hand under no_grad; a bare number beside a counter."""

import torch

torch.manual_seed(0)
x = torch.linspace(-3, 3, 100)
y = torch.sin(x)
a, b, c = (torch.randn((), requires_grad=True) for _ in range(3))
learning_rate = 1e-4
for t in range(40):
    y_pred = a + b * x + c * x**2
    loss = (y_pred - y).pow(2).sum()
    if t % 10 == 9:
        print(t, loss.item())
    loss.backward()
    with torch.no_grad():
        a -= learning_rate * a.grad
        b -= learning_rate * b.grad
        c -= learning_rate * c.grad
        a.grad = b.grad = c.grad = None
print(f"Result: y = {a.item()} + {b.item()} x + {c.item()} x^2")
