# expect: nothing
# ranks: 2


import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()

torch.manual_seed(0)
maker = DDP(nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 6)))
judge = DDP(nn.Sequential(nn.Linear(6, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1)), broadcast_buffers=False)
of_maker = torch.optim.Adam(maker.parameters(), lr=1e-3)
of_judge = torch.optim.Adam(judge.parameters(), lr=1e-3)
data = TensorDataset(torch.randn(512, 6) * 0.3 + 1)
sampler = DistributedSampler(data)
loader = DataLoader(data, batch_size=16, sampler=sampler, drop_last=True)
torch.manual_seed(50 + rank)
bce = nn.functional.binary_cross_entropy_with_logits
for epoch in range(4):
    sampler.set_epoch(epoch)
    for (real,) in loader:
        for p in judge.parameters():
            p.requires_grad_(True)
        fake = maker(torch.randn(len(real), 8)).detach()
        scores = judge(torch.cat([real, fake]))
        wanted = torch.cat([torch.ones(len(real), 1), torch.zeros(len(fake), 1)])
        of_judge.zero_grad()
        bce(scores, wanted).backward()
        of_judge.step()
        for p in judge.parameters():
            p.requires_grad_(False)
        of_maker.zero_grad()
        bce(judge.module(maker(torch.randn(len(real), 8))), torch.ones(len(real), 1)).backward()
        of_maker.step()
dist.destroy_process_group()
