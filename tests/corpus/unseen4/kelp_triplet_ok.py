import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(13)
K, D = 12, 24
centers = torch.randn(K, D)


def draw(n, classes):
    y = classes[torch.randint(0, len(classes), (n,))]
    return centers[y] + 1.2 * torch.randn(n, D), y


def batch_hard(z, y, margin=0.3):
    d = torch.cdist(z, z)
    same = y[:, None] == y[None]
    hardest_pos = d.masked_fill(~same, 0.0).max(1).values
    hardest_neg = d.masked_fill(same, float("inf")).min(1).values
    return F.relu(hardest_pos - hardest_neg + margin).mean()


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(D, 64), nn.ReLU(), nn.Linear(64, 16))

    def forward(self, x):
        return F.normalize(self.f(x), dim=1)


seen = torch.arange(K)
model = Embedder()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for it in range(200):
    x, y = draw(96, seen)
    loss = batch_hard(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 50 == 49:
        with torch.no_grad():
            gx, gy = draw(300, seen)
            qx, qy = draw(200, seen)
            hit = (gy[torch.cdist(model(qx), model(gx)).argmin(1)] == qy).float().mean().item()
        print(f"iter {it + 1} triplet {loss.item():.4f} recall@1 {hit:.3f}")
