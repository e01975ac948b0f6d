import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP


class InceptionLike(nn.Module):
    def __init__(self, aux=False):
        super().__init__()
        self.aux = aux
        self.body = nn.Sequential(nn.Linear(6, 24), nn.ReLU())
        self.head = nn.Linear(24, 3)
        self.aux_head = nn.Linear(24, 3) if aux else None

    def forward(self, x):
        h = self.body(x)
        if self.aux:
            return self.head(h), self.aux_head(h)
        return self.head(h)


def main_worker(rank, world, path):
    dist.init_process_group("gloo", init_method="file://" + path, rank=rank, world_size=world)
    torch.manual_seed(0)
    model = DDP(InceptionLike(aux=False))
    opt = torch.optim.SGD(model.parameters(), lr=0.2)
    gen = torch.Generator().manual_seed(rank)
    for step in range(40):
        x = torch.randn(32, 6, generator=gen)
        y = x[:, :3].argmax(1)
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if rank == 0 and step % 10 == 9:
            print(f"step {step + 1} loss {loss.item():.6f}", flush=True)
    dist.destroy_process_group()


def main():
    with tempfile.TemporaryDirectory() as tmp:
        mp.start_processes(main_worker, args=(2, os.path.join(tmp, "store")), nprocs=2, start_method="fork")


if __name__ == "__main__":
    main()
