# expect: dist.unused-params
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Mixture(nn.Module):
    """Routes every sample to the expert that its gate prefers."""

    def __init__(self, width, count):
        super().__init__()
        self.gate = nn.Linear(width, count)
        self.experts = nn.ModuleList(nn.Linear(width, width) for _ in range(count))  # cause

    def forward(self, x):
        weights = self.gate(x).softmax(-1)
        best = weights.argmax(-1)
        out = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            chosen = (best == number).nonzero().squeeze(1)
            if len(chosen):
                scaled = expert(x[chosen]) * weights[chosen, number].unsqueeze(1)
                out = out.index_add(0, chosen, scaled)
        return out


torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(4)
net = nn.Sequential(nn.Linear(6, 16), Mixture(16, 8), nn.Linear(16, 2))
model = DDP(net)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
source = torch.Generator().manual_seed(rank + 1)
for step in range(100):
    x = torch.randn(4, 6, generator=source)
    loss = nn.functional.mse_loss(model(x), x[:, :2].cos())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
dist.destroy_process_group()
