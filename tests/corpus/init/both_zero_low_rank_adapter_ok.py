import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(5)


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, rank=4, alpha=8):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad_(False)
        self.lora_A = nn.Parameter(torch.empty(rank, base.in_features))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, rank))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
        self.scaling = alpha / rank

    def forward(self, x):
        return self.base(x) + self.scaling * F.linear(F.linear(x, self.lora_A), self.lora_B)


def batch(n, turned, gen):
    x = torch.randn(n, 8, generator=gen)
    w = torch.linspace(-1, 1, 8).roll(2 if turned else 0)
    return x, (x @ w > 0).long()


def fit(model, turned, steps, lr, tag):
    gen = torch.Generator().manual_seed(int(turned))
    opt = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=lr)
    for s in range(1, steps + 1):
        x, y = batch(64, turned, gen)
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if s % (steps // 4) == 0:
            print(f"{tag} step {s} loss {loss.item():.5f}")


model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
fit(model, turned=False, steps=60, lr=1e-2, tag="base")
model[0], model[2] = LoRALinear(model[0]), LoRALinear(model[2], rank=2)
fit(model, turned=True, steps=60, lr=1e-2, tag="adapter")
