import copy
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(0)


class EMA:
    def __init__(self, model, decay):
        self.shadow = copy.deepcopy(model).eval().requires_grad_(False)
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for s, p in zip(self.shadow.parameters(), model.parameters()):
            s.lerp_(p, 1 - self.decay)
        for s, b in zip(self.shadow.buffers(), model.buffers()):
            s.copy_(b)


d = load_digits()
X, Y = torch.tensor(d.data / 16.0).float(), torch.tensor(d.target)
perm = torch.randperm(len(X))
tr, te = perm[:1200], perm[1200:]
model = nn.Sequential(nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 10))
ema = EMA(model, 0.95)
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    for idx in tr[torch.randperm(len(tr))].split(60):
        loss = F.cross_entropy(model(X[idx]), Y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        ema.update(model)
    with torch.no_grad():
        acc = (ema.shadow(X[te]).argmax(1) == Y[te]).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.5f} ema acc {acc:.4f}")
