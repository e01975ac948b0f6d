"""A custom autograd.Function with saved tensors, a setup_context one, and a straight-through estimator."""
import torch
from torch import nn

order = []


class Clip(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, limit):
        order.append("forward")
        ctx.save_for_backward(x)
        ctx.limit = limit
        return x.clamp(-limit, limit)

    @staticmethod
    def backward(ctx, grad):
        order.append("backward")
        (x,) = ctx.saved_tensors
        return grad * (x.abs() <= ctx.limit), None


class Round(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x.round()

    @staticmethod
    def setup_context(ctx, inputs, output):
        order.append("context")

    @staticmethod
    def backward(ctx, grad):
        return grad


torch.manual_seed(0)
model = nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    optimizer.zero_grad()
    out = Clip.apply(model(torch.randn(3, 4) * 3), 1.0)
    loss = (Round.apply(out * 4) / 4).square().mean()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), order, type(loss.grad_fn).__name__, type(out.grad_fn).__name__)
    order.clear()
print(torch.autograd.gradcheck(lambda v: Clip.apply(v, 10.0), torch.randn(2, dtype=torch.double, requires_grad=True)))
