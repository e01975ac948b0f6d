import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class SphereEmbedding(nn.Module):
    """Items on a sphere, so that the angles between them follow given dissimilarities."""

    def __init__(self, items, dim=3):
        super().__init__()
        self.points = nn.Parameter(torch.randn(items, dim))

    def forward(self, idx):
        return F.normalize(self.points[idx], dim=-1)


def angles(u):
    cosine = u @ u.t()
    return torch.acos(cosine.clamp(-1 + 1e-6, 1 - 1e-6))


items = 40
hidden = F.normalize(torch.randn(items, 3, dtype=torch.float64), dim=1)
wanted = torch.acos((hidden @ hidden.t()).clamp(-1, 1)).float()
wanted.fill_diagonal_(0.0)

model = SphereEmbedding(items)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
for step in range(80):
    idx = torch.randperm(items)[:32]
    loss = F.smooth_l1_loss(angles(model(idx)), wanted[idx][:, idx])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 16 == 0:
        print(f"step {step:2d} loss {loss.item():.6f}")
