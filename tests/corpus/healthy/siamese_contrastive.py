import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)

enc = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 8))
opt = torch.optim.Adam(enc.parameters(), lr=3e-3)
base = torch.randn(128, 10)
for step in range(12):
    x = base[torch.randperm(128)[:32]]
    a = F.normalize(enc(x + 0.1 * torch.randn_like(x)), dim=1)
    b = F.normalize(enc(x + 0.1 * torch.randn_like(x)), dim=1)
    logits = a @ b.T / 0.2
    labels = torch.arange(32)
    loss = (F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels)) / 2
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
