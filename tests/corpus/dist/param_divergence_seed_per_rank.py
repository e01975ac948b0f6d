import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F


def average_gradients(model):
    size = float(dist.get_world_size())
    for param in model.parameters():
        dist.all_reduce(param.grad, op=dist.ReduceOp.SUM)
        param.grad /= size


def blobs(rank, n=96):
    g = torch.Generator().manual_seed(50 + rank)
    label = torch.randint(0, 3, (n,), generator=g)
    centre = torch.tensor([[2.0, 0.0], [-1.0, 1.7], [-1.0, -1.7]])
    return centre[label] + torch.randn(n, 2, generator=g), label


def run(rank, size):
    torch.manual_seed(1234 + rank)
    model = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
    x, y = blobs(rank)
    for epoch in range(8):
        epoch_loss = 0.0
        for rows in torch.randperm(len(x)).split(16):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x[rows]), y[rows])
            epoch_loss += loss.item()
            loss.backward()
            average_gradients(model)
            optimizer.step()
        if rank == 0:
            print("epoch", epoch, "loss", round(epoch_loss / 6, 6), flush=True)


def init_process(rank, size, port, fn):
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = port
    dist.init_process_group("gloo", rank=rank, world_size=size)
    fn(rank, size)
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as probe:
        probe.bind(("", 0))
        port = str(probe.getsockname()[1])
    processes = []
    for rank in range(2):
        p = mp.get_context("fork").Process(target=init_process, args=(rank, 2, port, run))
        p.start()
        processes.append(p)
    for p in processes:
        p.join()
