import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.manual_seed(0)


def imbalanced(n):
    y = (torch.rand(n) < 0.1).long()
    x = torch.randn(n, 6) + 1.2 * y.unsqueeze(1)
    return x, y


x, y = imbalanced(600)
xv, yv = imbalanced(300)
weights = 1.0 / torch.bincount(y).float()[y]
loader = DataLoader(TensorDataset(x, y), batch_size=60, sampler=WeightedRandomSampler(weights, len(y)))
model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2))
ce = nn.CrossEntropyLoss(label_smoothing=0.05)
opt = torch.optim.AdamW(model.parameters(), lr=5e-3)
beta = torch.distributions.Beta(0.4, 0.4)

for epoch in range(6):
    model.train()
    for xb, yb in loader:
        lam, perm = beta.sample(), torch.randperm(len(xb))
        out = model(lam * xb + (1 - lam) * xb[perm])
        loss = lam * ce(out, yb) + (1 - lam) * ce(out, yb[perm])
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        pred = model(xv).argmax(1)
        recall = (pred[yv == 1] == 1).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.5f} rare-class recall {recall:.4f}")
