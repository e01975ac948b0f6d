"""Embed points so that their distances match given ones (metric MDS)."""
import torch
from torch import nn

torch.manual_seed(0)
N = 40
hidden = torch.randn(N, 5) * torch.tensor([2.0, 1.5, 0.2, 0.1, 0.1])
wanted = torch.cdist(hidden, hidden)


def pairwise(x):
    squared = (x.unsqueeze(0) - x.unsqueeze(1)).pow(2).sum(dim=-1)
    apart = squared > 0
    return torch.where(apart, squared.sqrt(), torch.zeros_like(squared))


class Layout(nn.Module):
    def __init__(self, points, dims):
        super().__init__()
        self.place = nn.Parameter(torch.randn(points, dims))

    def stress(self, target):
        difference = pairwise(self.place) - target
        return difference.pow(2).mean()


def optimise(model, steps, lr):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    history = []
    for step in range(steps):
        optimizer.zero_grad()
        loss = model.stress(wanted)
        loss.backward()
        optimizer.step()
        history.append(loss.item())
    return history


layout = Layout(N, 2)
with torch.no_grad():
    print(f"stress at the start {layout.stress(wanted).item():.3f}")
history = optimise(layout, steps=200, lr=0.05)
for step in (0, 50, 100, 199):
    print(f"step {step}: {history[step]:.4f}")
print("largest coordinate", round(layout.place.abs().max().item(), 3))
