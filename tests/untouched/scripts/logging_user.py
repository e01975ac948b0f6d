"""The logging module as a user sets it up: handlers, levels, stack info, one line per record."""
import logging
import sys

import torch
from torch import nn

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)s %(name)s %(funcName)s:%(lineno)d %(message)s")
log = logging.getLogger("train")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)

    def forward(self, x):
        log.info("forward", stacklevel=1)
        return self.fc(x)


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net.register_full_backward_hook(lambda *a: log.info("backward"))
for step in range(4):
    optimizer.zero_grad()
    loss = net(torch.randn(2, 3)).square().mean()
    loss.backward()
    optimizer.step()
    log.info("step %d loss %s", step, loss.item())
print(logging.getLogger().handlers, sorted(n for n in logging.root.manager.loggerDict if not n.startswith(("torch", "stepscope", "asyncio"))))
