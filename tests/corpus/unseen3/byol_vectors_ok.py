import copy
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(10)
centers = torch.randn(8, 24)
online = nn.Sequential(nn.Linear(24, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 16))
predictor = nn.Sequential(nn.Linear(16, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 16))
target = copy.deepcopy(online)
target.requires_grad_(False)
opt = torch.optim.Adam([*online.parameters(), *predictor.parameters()], lr=2e-3)
TAU = 0.99

for step in range(200):
    base = centers[torch.randint(0, 8, (64,))]
    v1, v2 = base + 0.5 * torch.randn(64, 24), base + 0.5 * torch.randn(64, 24)
    loss = 0.0
    for a, b in ((v1, v2), (v2, v1)):
        with torch.no_grad():
            t = target(b)
        loss = loss + (2 - 2 * F.cosine_similarity(predictor(online(a)), t, dim=1)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for pt, po in zip(target.parameters(), online.parameters()):
            pt.mul_(TAU).add_((1 - TAU) * po)
    if step % 50 == 0:
        print(f"step {step} loss {loss.item():.4f}")
online.eval()
with torch.no_grad():
    z = F.normalize(online(centers), dim=1)
print("mean off-diagonal similarity", ((z @ z.t()).sum() - 8).item() / 56)


with torch.no_grad():
    queries = F.normalize(online(centers[torch.arange(80) % 8] + 0.5 * torch.randn(80, 24)), dim=1)
    nearest = (queries @ z.t()).argmax(1)
print("cluster recovered", (nearest == torch.arange(80) % 8).float().mean().item())
