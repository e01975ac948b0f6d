"""torch.export of a trained model: the same graph."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls.add_(1)
        return torch.relu(self.fc(x)) + self.calls


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(4):
    optimizer.zero_grad()
    loss = net(torch.randn(2, 4)).mean()
    loss.backward()
    optimizer.step()
    print(loss.item())
program = torch.export.export(net, (torch.randn(2, 4),))
print(len(program.graph.nodes))
for node in program.graph.nodes:
    print(node.op, node.name, node.target)
print(program.module()(torch.ones(2, 4)).sum().item(), net.calls.item())
