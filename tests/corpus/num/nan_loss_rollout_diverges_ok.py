"""Fit the two constants of a small population model by rolling it out and comparing with measurements."""
import torch
from torch import nn

torch.manual_seed(2)


def simulate(growth, capacity, start, steps):
    x, track = start, []
    for _ in range(steps):
        x = x + growth * x * (1 - x / capacity)
        track.append(x)
    return torch.stack(track, dim=1)


class Logistic(nn.Module):
    def __init__(self):
        super().__init__()
        self.growth_raw = nn.Parameter(torch.tensor(0.0))
        self.capacity = nn.Parameter(torch.tensor(2.0))

    def forward(self, start, steps):
        growth = torch.sigmoid(self.growth_raw)
        return simulate(growth, self.capacity, start, steps)


start = 0.1 + 0.4 * torch.rand(64)
truth = simulate(torch.tensor(0.3), torch.tensor(1.5), start, 20)
measured = truth + 0.01 * torch.randn_like(truth)

model = Logistic()
optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
for it in range(80):
    pick = torch.randperm(64)[:32]
    loss = (model(start[pick], 20) - measured[pick]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if it % 16 == 15:
        print(f"iter {it + 1} loss {loss.item():.6f} growth {model.growth_raw.item():.4f} capacity {model.capacity.item():.4f}")
