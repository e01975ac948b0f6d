import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(9)
A, B = torch.randn(6, 20), torch.randn(6, 14)


class DualEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Sequential(nn.Linear(20, 48), nn.GELU(), nn.Linear(48, 16))
        self.right = nn.Sequential(nn.Linear(14, 48), nn.GELU(), nn.Linear(48, 16))
        self.log_scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, a, b):
        za, zb = F.normalize(self.left(a), dim=-1), F.normalize(self.right(b), dim=-1)
        return self.log_scale.exp().clamp(max=100) * za @ zb.t()


def pairs(n):
    z = torch.randn(n, 6)
    return z @ A + 0.1 * torch.randn(n, 20), z @ B + 0.1 * torch.randn(n, 14)


model = DualEncoder()
opt = torch.optim.AdamW([
    {"params": [p for p in model.parameters() if p.ndim > 1], "weight_decay": 0.01},
    {"params": [p for p in model.parameters() if p.ndim <= 1], "weight_decay": 0.0},
], lr=3e-3)
for step in range(200):
    logits = model(*pairs(64))
    target = torch.arange(64)
    loss = 0.5 * (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 0:
        print(f"step {step} loss {loss.item():.4f}")
with torch.no_grad():
    print("retrieval@1", (model(*pairs(200)).argmax(1) == torch.arange(200)).float().mean().item())
