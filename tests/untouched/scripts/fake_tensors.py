"""FakeTensorMode and meta tensors: shapes only, in the middle of a training."""
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        ghost = model(torch.randn(2, 3, 8, 8))
        print(type(ghost).__name__, tuple(ghost.shape), ghost.device)
    optimizer.zero_grad()
    loss = model(torch.randn(2, 3, 8, 8)).square().mean()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
meta = nn.Linear(10**6, 10**3, device="meta")
out = meta(torch.empty(4, 10**6, device="meta"))
out.sum().backward()
print(out.shape, meta.weight.grad.device)
