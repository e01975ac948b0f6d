# expect: dist.grads-not-averaged, dist.param-divergence
# ranks: 4

import torch
import torch.distributed as dist
from torch import nn


def average_gradients(model):
    world = dist.get_world_size()
    for parameter in model.parameters():
        dist.reduce(parameter.grad, dst=0)  # cause
        parameter.grad /= world


torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(3)
model = nn.Sequential(nn.Linear(7, 20), nn.SiLU(), nn.Linear(20, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
source = torch.Generator().manual_seed(rank)
for step in range(200):
    x = torch.randn(24, 7, generator=source)
    loss = nn.functional.mse_loss(model(x).squeeze(1), (x * x).sum(1).sqrt())
    optimizer.zero_grad()
    loss.backward()
    average_gradients(model)
    optimizer.step()
if rank == 0:
    print("loss", loss.item())
dist.destroy_process_group()
