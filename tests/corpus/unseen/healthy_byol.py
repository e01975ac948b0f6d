import copy
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(0)
d = load_digits()
X = torch.tensor(d.data / 16.0, dtype=torch.float32)
y = torch.tensor(d.target)


def view(x):
    x = torch.roll(x.view(-1, 8, 8), int(torch.randint(-1, 2, ())), dims=1 + int(torch.randint(0, 2, ())))
    x = x * (0.8 + 0.4 * torch.rand(len(x), 1, 1))
    return (x + 0.05 * torch.randn_like(x)).flatten(1)


def mlp(i, h, o):
    return nn.Sequential(nn.Linear(i, h), nn.BatchNorm1d(h), nn.ReLU(), nn.Linear(h, o))


class BYOL(nn.Module):
    def __init__(self):
        super().__init__()
        self.online = nn.Sequential(mlp(64, 96, 48), mlp(48, 64, 24))
        self.predictor = mlp(24, 48, 24)
        self.target = copy.deepcopy(self.online)
        for p in self.target.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def momentum_update(self, m):
        for o, t in zip(self.online.parameters(), self.target.parameters()):
            t.data = t.data * m + o.data * (1.0 - m)

    def loss(self, a, b):
        p = self.predictor(self.online(a))
        with torch.no_grad():
            z = self.target(b)
        return 2 - 2 * F.cosine_similarity(p, z.detach(), dim=-1)


model = BYOL()
opt = torch.optim.Adam(list(model.online.parameters()) + list(model.predictor.parameters()), lr=2e-3)
total, step = 8 * 14, 0
for epoch in range(8):
    model.train()
    for idx in torch.randperm(1400).split(100):
        v1, v2 = view(X[idx]), view(X[idx])
        loss = (model.loss(v1, v2) + model.loss(v2, v1)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        model.momentum_update(1 - 0.05 * (math.cos(math.pi * step / total) + 1) / 2)
        step += 1
    print(f"epoch {epoch} loss {loss.item():.4f}")
model.eval()
with torch.no_grad():
    feats = F.normalize(model.online[0](X), dim=1)
    nn_idx = (feats[1400:] @ feats[:1400].T).argmax(1)
    print("1-nn accuracy", (y[:1400][nn_idx] == y[1400:]).float().mean().item())
