"""What the script sees of itself: its module, file, path, source, types and pickles."""
import dataclasses
import inspect
import linecache
import os
import pickle
import sys
import typing

import torch
from torch import nn

print(__name__, os.path.basename(__file__), __spec__, __package__, type(__loader__).__name__, __doc__[:20])
print(os.path.basename(sys.argv[0]), sys.argv[1:], os.path.basename(sys.path[0]), type(__builtins__).__name__)
print(sorted(vars(sys.modules["__main__"])) == sorted(globals()), __annotations__)


@dataclasses.dataclass
class Config:
    width: int = 3
    names: list[str] = dataclasses.field(default_factory=list)
    parent: typing.Optional["Config"] = None


class Net(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.fc = nn.Linear(config.width, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        frame = inspect.currentframe()
        assert frame.f_globals is globals()
        return self.fc(x)


class Point(typing.NamedTuple):
    x: float
    y: float


torch.manual_seed(0)
net = Net(Config())
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    loss = net(torch.randn(2, 3)).mean()
    loss.backward()
    optimizer.step()
print(typing.get_type_hints(Config), typing.get_type_hints(Net.forward))
print(len(inspect.getsource(Net)), inspect.getmodule(Net).__name__, os.path.basename(inspect.getsourcefile(Net)))
print(inspect.getsourcelines(Config)[1], linecache.getline(__file__, 1).strip()[:30])
print(pickle.dumps(Config(5)).hex(), pickle.loads(pickle.dumps(Point(1, 2))))
print(len(pickle.dumps(net)), Net.__module__, Net.__qualname__, type(net).__mro__[1].__module__)
print(inspect.stack()[-1].function, inspect.stack()[0].function, sys._getframe().f_code.co_filename == __file__)
