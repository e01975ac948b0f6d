import torch
import torch.nn as nn

torch.manual_seed(1)


class Siamese(nn.Module):
    def __init__(self, d_in=6, d_out=3):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(d_in, 20), nn.ReLU(), nn.Linear(20, d_out))

    def forward(self, a, b):
        return (self.f(a) - self.f(b)).pow(2).sum(-1)


def contrastive(d2, same, margin=1.0):
    d = (d2 + 1e-6).sqrt()
    return torch.where(same, d2, torch.relu(margin - d).pow(2)).mean()


groups = torch.randn(5, 6)


def draw(n):
    i = torch.randint(0, 5, (n,))
    same = torch.rand(n) < 0.5
    j = torch.where(same, i, (i + torch.randint(1, 5, (n,))) % 5)
    noise = 0.3 * torch.randn(2, n, 6)
    return groups[i] + noise[0], groups[j] + noise[1], same


model = Siamese()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(1, 61):
    a, b, same = draw(48)
    pair_loss = contrastive(model(a, b), same).data
    size_penalty = 1e-3 * sum(p.data.pow(2).sum() for p in model.parameters())
    loss = pair_loss + size_penalty
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 15 == 0:
        print("step", step, "loss %.6f pair %.6f" % (loss.item(), pair_loss.item()))
