import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
centers = torch.randn(10, 12)
y = torch.randint(0, 10, (800,))
x = centers[y] + 0.4 * torch.randn(800, 12)


def contrastive(a, b, same, margin=1.0):
    d = F.pairwise_distance(a, b)
    return ((1 - same) * d.pow(2) + same * F.relu(margin - d).pow(2)).mean()


enc = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 8))
opt = torch.optim.Adam(enc.parameters(), 2e-3)
for epoch in range(6):
    for i in torch.randperm(800).split(80):
        j = i[torch.randperm(80)]
        same = (y[i] == y[j]).float()
        loss = contrastive(enc(x[i]), enc(x[j]), same)
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        z = enc(x)
        d = torch.cdist(z, z) + 1e5 * torch.eye(800)
    print(epoch, loss.item(), "nn", (y[d.argmin(1)] == y).float().mean().item())
