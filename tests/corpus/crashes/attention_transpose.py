import math

import torch
import torch.nn as nn


class SelfAttention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.dim = dim

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        scores = q @ k / math.sqrt(self.dim)
        return scores.softmax(-1) @ v


torch.manual_seed(0)
layer = SelfAttention(8)
head = nn.Linear(8, 1)
opt = torch.optim.Adam([*layer.parameters(), *head.parameters()], lr=1e-2)
for step in range(30):
    x = torch.randn(16, 5, 8)
    loss = (head(layer(x).mean(1)).squeeze(1) - x[:, 0, 0]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
