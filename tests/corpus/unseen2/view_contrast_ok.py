import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

torch.manual_seed(14)


def augment(x):
    keep = (torch.rand_like(x) > 0.2).float()
    return x * keep + 0.1 * torch.randn_like(x)


def nt_xent(z1, z2, tau=0.2):
    n = len(z1)
    z = F.normalize(torch.cat([z1, z2]), dim=1)
    sim = z @ z.t() / tau
    sim = sim.masked_fill(torch.eye(2 * n, dtype=torch.bool), float("-inf"))
    positives = torch.cat([torch.arange(n, 2 * n), torch.arange(0, n)])
    return F.cross_entropy(sim, positives)


class SimNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64))
        self.projector = nn.Sequential(nn.ReLU(), nn.Linear(64, 32))

    def forward(self, x):
        return self.projector(self.encoder(x))


d = load_digits()
X, y = torch.tensor(d.data / 16.0, dtype=torch.float32), d.target
train, test = slice(0, 1300), slice(1300, None)
model = SimNet()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(8):
    total, k = 0.0, 0
    for idx in torch.randperm(1300).split(130):
        loss = nt_xent(model(augment(X[idx])), model(augment(X[idx])))
        opt.zero_grad()
        loss.backward()
        opt.step()
        total, k = total + loss.item(), k + 1
    print(f"epoch {epoch} contrastive loss {total / k:.4f}")

with torch.no_grad():
    feats = model.encoder(X).numpy()
probe = LogisticRegression(max_iter=300).fit(feats[train], y[train])
print("linear evaluation accuracy", probe.score(feats[test], y[test]))
