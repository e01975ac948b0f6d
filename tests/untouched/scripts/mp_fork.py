"""Forked children that train, share tensors and end with exit codes of their own."""
import os

import torch
import torch.multiprocessing as mp
from torch import nn


def train(rank, shared, queue):
    torch.manual_seed(rank)
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        loss = model(torch.ones(2, 2)).square().mean()
        loss.backward()
        optimizer.step()
    shared[rank] = loss.item()
    queue.put((rank, model.weight.sum().item(), torch.rand(1).item()))
    os._exit(10 + rank) if rank else None


torch.manual_seed(5)
context = mp.get_context("fork")
shared = torch.zeros(2).share_memory_()
queue = context.SimpleQueue()
for rank in range(2):
    child = context.Process(target=train, args=(rank, shared, queue))
    child.start()
    print(queue.get())
    child.join()
    print(rank, child.exitcode)
print(shared.tolist(), torch.rand(1).item())
