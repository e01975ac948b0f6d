"""Place cities on a plane so that distances match a table."""
import numpy as np
import torch
from torch import nn

np.random.seed(0)
torch.manual_seed(0)
n = 30
true_xy = np.random.rand(n, 2)
table = np.sqrt(((true_xy[:, None] - true_xy[None]) ** 2).sum(-1))
features = np.concatenate([true_xy ** 2, np.sin(3 * true_xy), np.random.randn(n, 2) * 0.1], axis=1)

X = torch.tensor(features, dtype=torch.float32)
target = torch.tensor(table, dtype=torch.float32)


class Placer(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 2))

    def forward(self, x):
        return self.f(x)


def distance_matrix(p):
    diff = p.unsqueeze(1) - p.unsqueeze(0)
    return torch.sqrt((diff ** 2).sum(dim=-1))


placer = Placer()
opt = torch.optim.Adam(placer.parameters(), lr=1e-2)
for step in range(60):
    pos = placer(X)
    stress = (distance_matrix(pos) - target).pow(2).mean()
    opt.zero_grad()
    stress.backward()
    opt.step()
    if step % 10 == 0:
        print("step %d stress %.6f" % (step, stress.item()))
