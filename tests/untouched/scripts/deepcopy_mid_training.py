"""Copies of models with hooks and shared weights, copy.copy of optimizers, state_dict order."""
import copy

import torch
from torch import nn


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(7, 4), nn.Linear(4, 7, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, x):
        return self.head(self.embed(x).mean(1))


torch.manual_seed(0)
model = Tied()
model.head.register_forward_hook(lambda m, a, o: None)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for step in range(4):
    ids = torch.randint(0, 7, (3, 2))
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(ids), ids[:, 0])
    loss.backward()
    optimizer.step()
    twin, shallow = copy.deepcopy(model), copy.copy(optimizer)
    print(step, loss.item(), twin.head.weight is twin.embed.weight, list(twin.state_dict()), len(twin.head._forward_hooks))
    print(shallow.param_groups is optimizer.param_groups, sorted(vars(shallow)) == sorted(vars(optimizer)), type(shallow.step).__name__)
    print(sorted(vars(model)), sorted(vars(model.head)), "forward" in vars(model), "__call__" in vars(model))
