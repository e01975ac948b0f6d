import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(0)
X = torch.tensor(load_digits().images / 16.0, dtype=torch.float32)


def augment(x):
    shift = torch.randint(-1, 2, (2,)).tolist()
    x = torch.roll(x, shift, dims=(1, 2))
    return (x + 0.1 * torch.randn_like(x)) * (0.8 + 0.4 * torch.rand(len(x), 1, 1))


def nt_xent(z1, z2, tau=0.3):
    n = len(z1)
    z = F.normalize(torch.cat([z1, z2]), dim=1)
    sim = z @ z.t() / tau
    sim = sim.masked_fill(torch.eye(2 * n, dtype=torch.bool, device=z.device), float("-inf"))
    positives = torch.cat([torch.arange(n, 2 * n), torch.arange(0, n)]).to(z.device)
    return F.cross_entropy(sim, positives)


encoder = nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU())
projector = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 16))
opt = torch.optim.Adam([*encoder.parameters(), *projector.parameters()], lr=3e-3)
for epoch in range(3):
    total, n = 0.0, 0
    for idx in torch.randperm(len(X)).split(128):
        x = X[idx]
        loss = nt_xent(projector(encoder(augment(x))), projector(encoder(augment(x))))
        opt.zero_grad()
        loss.backward()
        opt.step()
        total, n = total + loss.item(), n + 1
    print(f"epoch {epoch} nt-xent {total / n:.5f}")
