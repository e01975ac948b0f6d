import os
import sys
import tempfile
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def worker(rank, world, store):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=world)
    torch.manual_seed(0)
    x = torch.randn(192, 6)
    y = (x[:, 0] > x[:, 1]).long()
    data = TensorDataset(x, y)
    sampler = DistributedSampler(data, shuffle=True, seed=1)
    loader = DataLoader(data, batch_size=16, sampler=sampler)
    model = DDP(nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 2)))
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    accum = 2
    for epoch in range(3):
        sampler.set_epoch(epoch)
        total = torch.zeros(1)
        for i, (xb, yb) in enumerate(loader):
            last = (i + 1) % accum == 0
            if last:
                loss = nn.functional.cross_entropy(model(xb), yb) / accum
                loss.backward()
                opt.step()
                opt.zero_grad()
            else:
                with model.no_sync():
                    loss = nn.functional.cross_entropy(model(xb), yb) / accum
                    loss.backward()
            total += loss.detach() * accum
        dist.all_reduce(total)
        if rank == 0:
            print(f"epoch {epoch} loss {total.item() / (world * len(loader)):.5f}")
            sys.stdout.flush()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    store = os.path.join(tempfile.mkdtemp(dir=os.getcwd()), "store")
    ctx = mp.get_context("fork")
    procs = [ctx.Process(target=worker, args=(r, 2, store)) for r in range(2)]
    for p in procs:
        p.start()
    for p in procs:
        p.join()
    sys.exit(max(p.exitcode for p in procs))
