"""A shape error in a submodule, first caught, then uncaught: message, notes, chained cause, exit code."""
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x)


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    net(torch.randn(2, 4)).sum().backward()
    optimizer.step()
    try:
        net(torch.randn(2, 3))
    except RuntimeError as error:
        print(step, str(error), getattr(error, "__notes__", []), error.__cause__, error.__context__)
try:
    net(torch.randn(2, 5))
except RuntimeError as error:
    raise SystemError("cannot go on") from error
