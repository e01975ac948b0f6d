"""inspect: signatures, sources of torch's functions and the user's, in the middle of training."""

import hashlib
import inspect

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)

    def forward(self, x):
        return self.fc(x)


def digest(function):
    return hashlib.md5(inspect.getsource(function).encode()).hexdigest()[:8]


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(torch.randn(9, 3)), batch_size=3)
torch_functions = [
    torch.Tensor.backward,
    nn.Module.__call__,
    torch.optim.SGD.step,
    DataLoader.__iter__,
    F.relu,
    torch.save,
]
for (x,) in loader:
    optimizer.zero_grad()
    net(x).sum().backward()
    optimizer.step()
    for function in [*torch_functions, torch.autograd.backward, nn.Module.zero_grad, nn.utils.clip_grad_norm_]:
        print(function.__module__, function.__qualname__, inspect.signature(function), digest(function))
print(inspect.getsource(Net.forward), inspect.signature(net.forward), inspect.getmodule(digest).__name__)
