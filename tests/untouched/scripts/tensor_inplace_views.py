"""In-place writes, views, version counters, and the error autograd gives when one is violated."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    optimizer.zero_grad()
    h = model(torch.randn(2, 4))
    h[:, 0].zero_()
    h[0] += 1
    part = h.view(-1)[2:6]
    part.mul_(2)
    loss = h.square().mean()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), h._version, part._version, part._base is h, [p._version for p in model.parameters()])
a = torch.randn(2, requires_grad=True)
b = a.exp()
b.add_(1)
try:
    b.sum().backward()
except RuntimeError as error:
    print(str(error)[:90])
print(model.weight.data_ptr() == model.weight.data.data_ptr(), model.weight.is_leaf)
