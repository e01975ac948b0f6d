import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.linear_model import LogisticRegression

torch.manual_seed(64)
K, D = 8, 40
protos = torch.randn(K, D)


def make_calls(n):
    y = torch.randint(0, K, (n,))
    return protos[y] + 2.2 * torch.randn(n, D), y


def augment(x):
    keep = (torch.rand_like(x) > 0.25).float()
    return x * keep + 0.4 * torch.randn_like(x)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(D, 64), nn.ReLU(), nn.Linear(64, 16))
        self.proj = nn.Sequential(nn.ReLU(), nn.Linear(16, 16))

    def forward(self, x):
        return self.proj(self.body(x))


def nt_xent(z1, z2, temperature=0.2):
    n = len(z1)
    z = F.normalize(torch.cat([z1, z2]), dim=1)
    sim = z @ z.t() / temperature
    labels = torch.cat([torch.arange(n) + n, torch.arange(n)])
    top1 = (sim.argmax(dim=1) == labels).float().mean().item()
    return F.cross_entropy(sim, labels), top1


x, y = make_calls(1500)
xt, yt = make_calls(500)
encoder = Encoder()
optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3)
for epoch in range(8):
    total = 0.0
    batches = torch.randperm(len(x)).split(125)
    for idx in batches:
        loss, top1 = nt_xent(encoder(augment(x[idx])), encoder(augment(x[idx])))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch}: contrastive loss {total / len(batches):.4f} pair match {top1:.3f}")

with torch.no_grad():
    f_train, f_test = encoder.body(x).numpy(), encoder.body(xt).numpy()
probe = LogisticRegression(max_iter=200).fit(f_train[:100], y[:100].numpy())
print("linear probe accuracy", probe.score(f_test, yt.numpy()))
