# untouched: known in run: a failing step is kept in a capsule, so the arguments of the model are held until the step ends
# untouched: known in check: what is tried with a model is tried at its backward, so its arguments are held until then
"""Reference counts and referrers of inputs, outputs, gradients and losses in the middle of a step."""
import sys

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    x = torch.randn(2, 3)
    out = model(x)
    loss = out.square().mean()
    counts = [sys.getrefcount(one) for one in (x, out, loss)]
    optimizer.zero_grad()
    loss.backward()
    counts += [sys.getrefcount(p.grad) for p in model.parameters()]
    optimizer.step()
    counts += [sys.getrefcount(one) for one in (x, out, loss, model[0], optimizer.param_groups)]
    print(step, loss.item(), counts, x._use_count() if hasattr(x, "_use_count") else "")
