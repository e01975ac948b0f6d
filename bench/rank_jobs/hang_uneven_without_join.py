# expect: run.hang, dist.collective-mismatch
# ranks: 4

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()


class Shards(IterableDataset):
    def __iter__(self):
        gen = torch.Generator().manual_seed(rank)
        for _ in range([90, 90, 72, 90][rank]):
            x = torch.randn(6, generator=gen)
            yield x, x.sum()


def average(model):
    for weight in model.parameters():
        dist.all_reduce(weight.grad)  # cause
        weight.grad /= world


torch.manual_seed(7)
model = nn.Sequential(nn.Linear(6, 10), nn.ReLU(), nn.Linear(10, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
for epoch in range(2):
    losses = []
    for x, y in DataLoader(Shards(), batch_size=6):
        loss = nn.functional.mse_loss(model(x).squeeze(1), y)
        optimizer.zero_grad()
        loss.backward()
        average(model)
        optimizer.step()
        losses.append(loss.item())
    print(rank, epoch, sum(losses) / len(losses))
dist.destroy_process_group()
