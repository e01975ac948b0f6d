import torch
from torch import nn

torch.manual_seed(14)
N_ITEMS, DIM, GROUPS = 90, 24, 9
prototype = torch.randn(GROUPS, DIM)
group = torch.arange(N_ITEMS) % GROUPS
features = prototype[group] + 1.3 * torch.randn(N_ITEMS, DIM)


class Embedder(nn.Module):
    def __init__(self, out=12):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(DIM, 48), nn.ReLU(), nn.Linear(48, out))

    def forward(self, x):
        return nn.functional.normalize(self.f(x), dim=-1)


def draw_triplet():
    a = torch.randint(0, N_ITEMS, (1,)).item()
    same = torch.nonzero(group == group[a]).flatten()
    other = torch.nonzero(group != group[a]).flatten()
    p = same[torch.randint(0, len(same), (1,))].item()
    n = other[torch.randint(0, len(other), (1,))].item()
    return a, p, n


def retrieval(model):
    with torch.no_grad():
        z = model(features)
    sim = z @ z.t()
    sim.fill_diagonal_(-2)
    return (group[sim.argmax(1)] == group).float().mean().item()


model = Embedder()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
print(f"before training: recall@1 {retrieval(model):.3f}")
for step in range(150):
    per_triplet = []
    for _ in range(16):
        a, p, n = draw_triplet()
        za, zp, zn = model(features[a]), model(features[p]), model(features[n])
        d_pos = (za - zp).pow(2).sum()
        d_neg = (za - zn).pow(2).sum()
        per_triplet.append(torch.relu(d_pos - d_neg + 0.5).item())
    loss = torch.tensor(per_triplet, requires_grad=True).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 0:
        print(f"step {step} loss {loss.item():.4f}")
print(f"after training: recall@1 {retrieval(model):.3f}")
