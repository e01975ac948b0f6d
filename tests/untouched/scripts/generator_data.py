"""Data from generators: send, throw, close, half iterated ones, and a prefetching thread with a queue."""
import queue
import threading

import torch
from torch import nn

log = []


def stream(n):
    try:
        for i in range(n):
            got = yield torch.randn(2, 3)
            log.append(got)
    finally:
        log.append("closed")


def prefetch(source):
    q = queue.Queue(1)

    def fill():
        for item in source:
            q.put(item)
        q.put(None)

    threading.Thread(target=fill, daemon=True).start()
    return iter(q.get, None)


torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
source = stream(10)
x = next(source)
for step in range(4):
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    x = source.send(step)
    print(step, loss.item(), log)
del source
print(log)
fixed = [torch.full((1, 3), float(i)) for i in range(3)]
for x in prefetch(fixed):
    print(model(x).item())
