# untouched: known in run, check, profile, record: the stack of function modes is one longer while operations are followed
"""User modes inside each other, entered by hand, with an exception in between, and flop counting."""
import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode


class Names(TorchFunctionMode):
    def __init__(self, log):
        self.log = log
        super().__init__()

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.log.append(getattr(func, "__name__", str(func)))
        return func(*args, **(kwargs or {}))


class Double(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        return out * 2 if func is torch.ops.aten.relu.default else out


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(4):
    outer, inner = [], []
    optimizer.zero_grad()
    with Names(outer), Double(), Names(inner), FlopCounterMode(display=False) as flops:
        loss = model(torch.randn(2, 3)).square().mean()
        loss.backward()
    optimizer.step()
    print(step, loss.item(), len(outer), len(inner), flops.get_total_flops(), outer == inner)
mode = Names([])
mode.__enter__()
try:
    model(torch.randn(2, 7))
except RuntimeError as error:
    print(str(error).splitlines()[0], mode.log)
finally:
    mode.__exit__(None, None, None)
print(torch._C._len_torch_function_stack(), torch._C._len_torch_dispatch_stack())
