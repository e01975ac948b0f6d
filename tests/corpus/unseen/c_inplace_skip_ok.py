import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(0)


class GatedBlock(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.value = nn.Linear(d, d)
        self.gate = nn.Linear(d, d)
        self.norm = nn.LayerNorm(d)

    def forward(self, x):
        g = torch.sigmoid(self.gate(x))
        h = g * torch.tanh(self.value(x))
        g = g + x
        return self.norm(h + g)


class GatedNet(nn.Module):
    def __init__(self, d=48, depth=2):
        super().__init__()
        self.inp = nn.Linear(64, d)
        self.blocks = nn.Sequential(*[GatedBlock(d) for _ in range(depth)])
        self.out = nn.Linear(d, 10)

    def forward(self, x):
        return self.out(self.blocks(self.inp(x)))


digits = load_digits()
X = torch.tensor(digits.data / 16, dtype=torch.float32)
y = torch.tensor(digits.target)
n = 1400

model = GatedNet()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-2)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=5e-3, total_steps=4 * 28)
for epoch in range(4):
    model.train()
    for idx in torch.randperm(n).split(50):
        logits = model(X[idx])
        loss = F.cross_entropy(logits, y[idx])
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        sched.step()
    model.eval()
    with torch.no_grad():
        acc = (model(X[n:]).argmax(1) == y[n:]).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.4f} val acc {acc:.4f}")
