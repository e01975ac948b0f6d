"""torch.compile of a function with a graph break, aot_eager, and a loss inside the graph."""

import torch
import torch.nn.functional as F

torch.manual_seed(0)
weight = torch.randn(3, 4, requires_grad=True)


def step(x, y):
    h = F.linear(x, weight).tanh()
    if h.sum() > 0:
        h = h * 2
    else:
        h = h - 1
    return F.mse_loss(h, y)


compiled = torch.compile(step, backend="aot_eager")
optimizer = torch.optim.Adam([weight], lr=0.05)
for i in range(4):
    optimizer.zero_grad()
    loss = compiled(torch.randn(5, 4), torch.randn(5, 3))
    loss.backward()
    optimizer.step()
    print(i, loss.item())
found = torch._dynamo.explain(step)(torch.randn(5, 4), torch.randn(5, 3))
print(found.graph_count, found.graph_break_count, found.op_count)
print(dict(torch._dynamo.utils.counters["frames"]))
