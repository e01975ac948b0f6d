"""torch.save and load of weights, optimizers and whole models to disk, then training goes on."""
import os

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)

    def forward(self, x):
        return self.fc(x)


def train(net, optimizer, n):
    for _ in range(n):
        optimizer.zero_grad()
        loss = net(torch.randn(2, 3)).square().mean()
        loss.backward()
        optimizer.step()
    return loss.item()


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
print(train(net, optimizer, 3))
torch.save({"net": net.state_dict(), "opt": optimizer.state_dict(), "rng": torch.get_rng_state()}, "last.pt")
torch.save(net, "whole.pt")
first = train(net, optimizer, 3)
kept = torch.load("last.pt", weights_only=True)
again = torch.load("whole.pt", weights_only=False)
net.load_state_dict(kept["net"])
optimizer.load_state_dict(kept["opt"])
torch.set_rng_state(kept["rng"])
print(first == train(net, optimizer, 3), list(kept["net"]), type(again) is Net, again.fc.weight.sum().item())
traced = torch.jit.script(nn.Linear(2, 2))
torch.jit.save(traced, "traced.pt")
print(torch.jit.load("traced.pt").weight.shape, os.path.isdir("."))
