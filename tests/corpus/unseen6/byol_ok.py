import copy

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
online = nn.Sequential(nn.Linear(16, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 16))
pred = nn.Sequential(nn.Linear(16, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 16))
target = copy.deepcopy(online)
for p in target.parameters():
    p.requires_grad_(False)
opt = torch.optim.Adam([*online.parameters(), *pred.parameters()], 1e-3)
base = torch.randn(8, 16)
x = base[torch.randint(0, 8, (800,))] + 0.2 * torch.randn(800, 16)
for epoch in range(5):
    for i in torch.randperm(800).split(80):
        a, b = x[i] + 0.1 * torch.randn(80, 16), x[i] + 0.1 * torch.randn(80, 16)
        with torch.no_grad():
            ta, tb = target(a), target(b)
        loss = 2 - F.cosine_similarity(pred(online(a)), tb).mean() - F.cosine_similarity(pred(online(b)), ta).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            for q, p in zip(target.parameters(), online.parameters()):
                q.lerp_(p, 0.01)
    print(epoch, loss.item())
