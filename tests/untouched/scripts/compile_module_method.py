"""module.compile(), torch.compiler.disable and is_compiling; a recompile for another dtype."""
import torch
from torch import nn

graphs = []


def backend(graph, inputs):
    graphs.append(len(graph.graph.nodes))
    return graph.forward


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    @torch.compiler.disable
    def log(self, x):
        return x.detach().sum()

    def forward(self, x):
        h = self.fc(x).relu()
        self.log(h)
        return h * (2 if torch.compiler.is_compiling() else 1)


torch.manual_seed(0)
net = Net()
net.compile(backend=backend)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(4):
    optimizer.zero_grad()
    loss = net(torch.randn(2, 4)).square().mean()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), graphs)
net.double()
print(net(torch.randn(2, 4, dtype=torch.double)).sum().item(), graphs, type(net).__name__)
torch._dynamo.reset()
