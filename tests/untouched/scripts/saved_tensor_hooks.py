"""saved_tensors_hooks of the user's own count what autograd packs and unpacks; save_on_cpu."""
import torch
from torch import nn

packed, unpacked = [], []


def pack(tensor):
    packed.append(tuple(tensor.shape))
    return tensor.clone()


def unpack(tensor):
    unpacked.append(tuple(tensor.shape))
    return tensor


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    optimizer.zero_grad()
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        loss = model(torch.randn(3, 4)).square().mean()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), packed, unpacked)
    packed.clear()
    unpacked.clear()
with torch.autograd.graph.save_on_cpu():
    loss = model(torch.randn(3, 4)).square().mean()
loss.backward()
with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
    model(torch.randn(3, 4)).sum().backward()
a = torch.randn(2, requires_grad=True)
b = a.exp()
print(b.grad_fn._saved_result is not None, model[0].weight.grad.sum().item())
