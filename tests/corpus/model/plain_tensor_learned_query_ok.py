import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2)


class AttentionPool(nn.Module):
    """Learned queries look at a set of vectors and sum them up."""

    def __init__(self, dim, n_queries=2):
        super().__init__()
        self.query_weight = nn.Parameter(torch.randn(n_queries, dim) * 0.02)
        self.scale = nn.Parameter(torch.ones(dim))
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)

    def forward(self, x):
        scores = self.query_weight @ self.key(x).transpose(1, 2) / x.size(-1) ** 0.5
        pooled = scores.softmax(-1) @ self.value(x)
        return (pooled * self.scale).flatten(1)


class SetNet(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(3, dim), nn.ReLU())
        self.pool = AttentionPool(dim)
        self.out = nn.Linear(2 * dim, 1)

    def forward(self, x):
        return self.out(torch.relu(self.pool(self.embed(x)))).squeeze(-1)


def sets(n, gen):
    x = torch.randn(n, 9, 3, generator=gen)
    best = x[..., 0].argmax(1)
    return x, x[torch.arange(n), best, 1]


gen = torch.Generator().manual_seed(0)
model = SetNet()
opt = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=1e-4)
x_val, y_val = sets(128, gen)
for step in range(1, 101):
    x, y = sets(64, gen)
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 25 == 0:
        with torch.no_grad():
            print(f"{step}: train {loss.item():.5f} val {F.mse_loss(model(x_val), y_val).item():.5f}")
