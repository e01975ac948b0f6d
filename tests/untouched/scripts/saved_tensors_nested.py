"""Hooks of saved tensors inside each other, switched off, moved to the CPU; the script counts what is packed."""
import torch
from torch import nn
from torch.autograd import graph

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 4), nn.GELU(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    packed, unpacked, inner = [], [], []

    def pack(tensor):
        packed.append((tuple(tensor.shape), tensor.is_leaf))
        return tensor.double()

    def unpack(tensor):
        unpacked.append(tuple(tensor.shape))
        return tensor.float()

    optimizer.zero_grad()
    x = torch.randn(5, 3)
    with graph.saved_tensors_hooks(pack, unpack):
        hidden = model[:2](x)
        with graph.saved_tensors_hooks(lambda t: (inner.append(t.dtype), t)[1], lambda t: t):
            hidden = model[2](hidden)
        with graph.save_on_cpu():
            hidden = model[3](hidden)
        loss = model[4](hidden).square().mean()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), packed, unpacked, inner)
try:
    with graph.disable_saved_tensors_hooks("not here"), graph.saved_tensors_hooks(pack, unpack):
        model(x)
except RuntimeError as error:
    print(error)
