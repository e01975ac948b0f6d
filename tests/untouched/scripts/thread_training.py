"""Training in a thread, and two trainings in two threads that take turns."""
import threading

import torch
from torch import nn

results = {}
turn = [threading.Semaphore(1), threading.Semaphore(0)]


def train(name, mine, theirs, seed):
    generator = torch.Generator().manual_seed(seed)
    model = nn.Linear(3, 1)
    nn.init.constant_(model.weight, 0.5)
    nn.init.zeros_(model.bias)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(5):
        mine.acquire()
        optimizer.zero_grad()
        loss = model(torch.randn(4, 3, generator=generator)).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        theirs.release()
    results[name] = losses, threading.current_thread().name, model


torch.manual_seed(0)
threads = [threading.Thread(target=train, args=(i, turn[i], turn[1 - i], i), name=f"trainer{i}") for i in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for i in range(2):
    print(i, results[i][:2])
print(sorted(t.name for t in threading.enumerate() if t.name.startswith(("trainer", "MainThread"))), torch.rand(1).item())
