# untouched: only run, profile, record
"""Patches of the innermost doors: `Module._call_impl`, the engine's, `_BaseDataLoaderIter.__next__`, with wraps and mock."""
import functools
from unittest import mock

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.dataloader import _BaseDataLoaderIter

calls = []


def counted(owner, name):
    original = getattr(owner, name)

    @functools.wraps(original)
    def wrapper(*args, **kwargs):
        calls.append(name)
        return original(*args, **kwargs)

    setattr(owner, name, wrapper)
    return lambda: setattr(owner, name, original)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(torch.randn(8, 3)), batch_size=4)


def epoch():
    calls.clear()
    for (x,) in loader:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        print(loss.item(), calls)
        calls.clear()


epoch()
places = (
    (nn.Module, "_call_impl"), (nn.Linear, "forward"), (torch.autograd, "_engine_run_backward"), (torch.autograd, "backward"),
    (_BaseDataLoaderIter, "__next__"), (DataLoader, "__iter__"), (torch.optim.SGD, "step"), (torch.optim.SGD, "zero_grad"),
)
undo = [counted(*place) for place in places]
epoch()
print([getattr(owner, name).__wrapped__.__name__ for owner, name in places])
with mock.patch.object(nn.Module, "__call__", autospec=True, side_effect=nn.Module.__call__) as called:
    epoch()
    print(called.call_count, [type(one.args[0]).__name__ for one in called.call_args_list])
with mock.patch.object(torch.Tensor, "backward", autospec=True, side_effect=torch.Tensor.backward) as backward:
    epoch()
    print(backward.call_count)
with mock.patch.object(optimizer, "step", wraps=optimizer.step) as stepped:
    epoch()
    print(stepped.mock_calls)
for one in undo:  # the first first
    one()
epoch()
