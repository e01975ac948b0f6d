import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

torch.manual_seed(4)
wine = load_wine()
X = torch.tensor(StandardScaler().fit_transform(wine.data), dtype=torch.float32)
y = torch.tensor(wine.target)
order = torch.randperm(len(X))
train_idx, test_idx = order[:120], order[120:]


class SparseGate(nn.Module):
    """A gate over experts where weak experts get exactly zero."""

    def __init__(self, d, n):
        super().__init__()
        self.fc = nn.Linear(d, n)

    def forward(self, x):
        p = F.softmax(self.fc(x) * 2, 1)
        p = F.relu(p - 0.1)
        return p / p.sum(1, keepdim=True)


class MoE(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.gate = SparseGate(13, n)
        self.experts = nn.ModuleList(nn.Linear(13, 3) for _ in range(n))

    def forward(self, x):
        g = self.gate(x)
        out = torch.stack([e(x) for e in self.experts], 1)
        return (g.unsqueeze(2) * out).sum(1), g


def gate_entropy(g):
    plogp = torch.where(g > 0, g * torch.log(g.clamp(min=1e-12)), torch.zeros_like(g))
    return -plogp.sum(1).mean()


model = MoE()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(200):
    idx = train_idx[torch.randint(0, 120, (24,))]
    logits, gates = model(X[idx])
    loss = F.cross_entropy(logits, y[idx]) - 0.01 * gate_entropy(gates)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 40 == 0:
        print(f"step {step} loss {loss.item():.4f}")
with torch.no_grad():
    logits, _ = model(X[test_idx])
print("test accuracy", (logits.argmax(1) == y[test_idx]).float().mean().item())
