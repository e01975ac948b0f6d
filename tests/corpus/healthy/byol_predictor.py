import copy
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(6)


def mlp(i, h, o):
    return nn.Sequential(nn.Linear(i, h), nn.LayerNorm(h), nn.ReLU(), nn.Linear(h, o))


online = mlp(10, 32, 16)
predictor = mlp(16, 32, 16)
target = copy.deepcopy(online)
for p in target.parameters():
    p.requires_grad = False
opt = torch.optim.AdamW([*online.parameters(), *predictor.parameters()], lr=3e-3)
centres = torch.randn(12, 10) * 2


def regression_loss(p, z):
    return 2 - 2 * F.cosine_similarity(p, z, dim=-1).mean()


for step in range(80):
    base = centres[torch.randint(0, 12, (64,))]
    v1, v2 = base + 0.4 * torch.randn_like(base), base + 0.4 * torch.randn_like(base)
    with torch.no_grad():
        t1, t2 = target(v1), target(v2)
    loss = regression_loss(predictor(online(v1)), t2) + regression_loss(predictor(online(v2)), t1)
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for q, k in zip(online.parameters(), target.parameters()):
            k.mul_(0.98).add_(q, alpha=0.02)
    if step % 16 == 0:
        print(f"step {step} loss {loss.item():.5f}")
