import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
enc = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 16))
opt = torch.optim.Adam(enc.parameters(), 1e-3)
base = torch.randn(10, 20)
cls = torch.randint(0, 10, (1000,))
data = base[cls] + 0.3 * torch.randn(1000, 20)


def view(x):
    return x * (torch.rand_like(x) > 0.2) + 0.1 * torch.randn_like(x)


def nt_xent(a, b, tau=0.5):
    n = len(a)
    z = F.normalize(torch.cat([a, b]), dim=1)
    sim = z @ z.t() / tau
    sim = sim.masked_fill(torch.eye(2 * n, dtype=torch.bool), -1e9)
    target = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return F.cross_entropy(sim, target)


for epoch in range(8):
    total = 0
    for idx in torch.randperm(1000).split(100):
        x = data[idx]
        loss = nt_xent(enc(view(x)), enc(view(x)))
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    print("epoch", epoch, "loss", total / 10)
with torch.no_grad():
    z = F.normalize(enc(data), dim=1)
    s = z @ z.t() - 2 * torch.eye(1000)
    print("knn", (cls[s.argmax(1)] == cls).float().mean().item())
