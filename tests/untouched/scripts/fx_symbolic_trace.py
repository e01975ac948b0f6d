"""fx.symbolic_trace and a graph rewrite, between steps of a training."""

import operator

import torch
import torch.nn.functional as F
from torch import fx, nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 1)

    def forward(self, x):
        return self.b(F.relu(self.a(x)) + x)


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(4):
    optimizer.zero_grad()
    net(torch.randn(3, 4)).mean().backward()
    optimizer.step()
    traced = fx.symbolic_trace(net)
    print(step, len(traced.graph.nodes), traced.code.strip())
for node in traced.graph.nodes:
    if node.target is operator.add:
        node.target = operator.mul
traced.recompile()
print(traced.code, traced(torch.ones(2, 4)).tolist())
