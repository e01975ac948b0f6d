"""The user's own signal handlers: SIGTERM, SIGUSR1, SIGALRM and a timer, in the middle of training."""
import os
import signal

import torch
from torch import nn

seen = []


def handler(number, frame):
    seen.append(signal.Signals(number).name)


names = ("SIGTERM", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGINT", "SIGHUP")
print([str(signal.getsignal(getattr(signal, name))).split(" at ")[0] for name in names])
old = {name: signal.signal(getattr(signal, name), handler) for name in names}
torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for name in names:
    optimizer.zero_grad()
    loss = model(torch.randn(2, 3)).square().mean()
    os.kill(os.getpid(), getattr(signal, name))
    loss.backward()
    optimizer.step()
    print(loss.item(), seen, signal.getsignal(getattr(signal, name)) is handler)
signal.setitimer(signal.ITIMER_REAL, 0.01)
signal.pause()
print(seen)
for name, was in old.items():
    signal.signal(getattr(signal, name), was)
print([str(signal.getsignal(getattr(signal, name))).split(" at ")[0] for name in names])
