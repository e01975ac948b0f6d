import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

torch.manual_seed(6)
digits = load_digits()
X = torch.tensor(digits.data / 16.0, dtype=torch.float32)
y = digits.target


def augment(x):
    keep = (torch.rand_like(x) > 0.2).float()
    return x * keep + 0.1 * torch.randn_like(x)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64))
        self.proj = nn.Sequential(nn.ReLU(), nn.Linear(64, 32))

    def forward(self, x):
        h = self.body(x)
        return h, F.normalize(self.proj(h), dim=1)


def nt_xent(z1, z2, tau=0.2):
    n = z1.size(0)
    z = torch.cat([z1, z2])
    sim = z @ z.t() / tau
    sim = sim.masked_fill(torch.eye(2 * n, dtype=torch.bool), float("-inf"))
    labels = torch.cat([torch.arange(n, 2 * n), torch.arange(0, n)])
    return F.cross_entropy(sim, labels), (sim.argmax(1) == labels).float().mean()


model = Encoder()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(8):
    order = torch.randperm(len(X))
    losses, accs = [], []
    for i in range(0, len(X) - 127, 128):
        xb = X[order[i:i + 128]]
        _, z1 = model(augment(xb))
        _, z2 = model(augment(xb))
        loss, acc = nt_xent(z1, z2)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
        accs.append(acc.item())
    print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f} pair accuracy {sum(accs) / len(accs):.3f}")

with torch.no_grad():
    feats = model(X)[0].numpy()
probe = LogisticRegression(max_iter=200).fit(feats[:1200], y[:1200])
print("linear probe accuracy", round(probe.score(feats[1200:], y[1200:]), 3))
