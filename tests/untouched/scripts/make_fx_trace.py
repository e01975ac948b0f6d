"""make_fx of a forward and of a whole gradient."""

import torch
from torch.func import functional_call, grad
from torch.fx.experimental.proxy_tensor import make_fx

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh())
parameters = dict(model.named_parameters())


def loss(parameters, x):
    return functional_call(model, parameters, (x,)).square().sum()


optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    loss(dict(model.named_parameters()), torch.randn(2, 3)).backward()
    optimizer.step()
graph = make_fx(grad(loss))({k: v.detach() for k, v in parameters.items()}, torch.randn(2, 3))
for node in graph.graph.nodes:
    print(node.op, node.target)
print(make_fx(lambda x: torch.relu(x) * 2, tracing_mode="fake")(torch.randn(2)).code)
