# expect: dist.grads-not-averaged, dist.param-divergence
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU())
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        return self.head(self.body(x))


torch.set_num_threads(1)
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(9)
teacher = nn.Linear(12, 4)
model = Classifier()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
source = torch.Generator().manual_seed(70 + rank)
for step in range(200):
    x = torch.randn(32, 12, generator=source)
    with torch.no_grad():
        labels = teacher(x).argmax(1)
    loss = nn.functional.cross_entropy(model(x), labels)
    optimizer.zero_grad()
    loss.backward()
    for parameter in model.head.parameters():  # cause
        dist.all_reduce(parameter.grad)
        parameter.grad.div_(world)
    optimizer.step()
if rank == 0:
    print("loss", loss.item())
dist.destroy_process_group()
