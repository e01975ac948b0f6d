"""A closure that LBFGS calls several times."""

import torch
from torch import nn

torch.manual_seed(0)
xs = torch.linspace(0, 6, 60)[:, None]
seq = nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.LBFGS(seq.parameters(), lr=0.5, max_iter=4)
for i in range(4):
    print("STEP: ", i)

    def closure():
        optimizer.zero_grad()
        loss = criterion(seq(xs), xs.sin())
        print("loss:", loss.item())
        loss.backward()
        return loss

    optimizer.step(closure)
    with torch.no_grad():
        loss = criterion(seq(xs + 0.1), (xs + 0.1).sin())
        print("test loss:", loss.item())
