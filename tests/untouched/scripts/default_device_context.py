"""torch.device as a context and set_default_device: factory functions go where the user said."""
import torch
from torch import nn

torch.manual_seed(0)
with torch.device("meta"):
    ghost = nn.Linear(4, 2)
    print(ghost.weight.device, torch.zeros(2).device)
with torch.device("cpu"):
    model = nn.Linear(4, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for step in range(3):
        optimizer.zero_grad()
        loss = model(torch.randn(3, 4)).square().mean()
        loss.backward()
        optimizer.step()
        print(step, loss.item(), torch.get_default_device(), torch._C._len_torch_function_stack() > 0)
torch.set_default_device("meta")
print(torch.rand(3).device, nn.Linear(2, 2).weight.device, torch.get_default_device())
real = torch.ones(2, device="cpu")
for step in range(2):
    optimizer.zero_grad()
    loss = model(torch.ones(3, 4, device="cpu")).square().mean()
    loss.backward()
    optimizer.step()
    print(loss.item(), loss.device)
torch.set_default_device(None)
print(torch.rand(1).device, real.sum().item())
