# expect: nothing
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn


class SumOverRanks(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class CopyToRanks(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        gradient = gradient.clone()
        dist.all_reduce(gradient)
        return gradient


class ParallelBlock(nn.Module):
    """A column-parallel and a row-parallel layer: each rank has half of the hidden units."""

    def __init__(self, width, hidden):
        super().__init__()
        share = hidden // dist.get_world_size()
        with torch.random.fork_rng():
            torch.manual_seed(1000 + dist.get_rank())
            self.up = nn.Linear(width, share)
            self.down = nn.Linear(share, width, bias=False)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        hidden = nn.functional.gelu(self.up(CopyToRanks.apply(self.norm(x))))
        return x + SumOverRanks.apply(self.down(hidden))


torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), ParallelBlock(16, 32), ParallelBlock(16, 32), nn.Linear(16, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
source = torch.Generator().manual_seed(77)
for step in range(200):
    x = torch.randn(24, 10, generator=source)
    loss = nn.functional.mse_loss(model(x), x[:, :3] * x[:, 3:6])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if rank == 0 and step % 50 == 49:
        print(step, loss.item())
dist.destroy_process_group()
