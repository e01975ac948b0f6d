"""The joint forward and backward graphs that AOTAutograd makes of a training step."""
import torch
from functorch.compile import aot_function
from torch import nn

seen = []


def show(graph, inputs):
    seen.append([str(node.target) for node in graph.graph.nodes if node.op == "call_function"])
    return graph


torch.manual_seed(0)
weight = nn.Parameter(torch.randn(3, 2))
optimizer = torch.optim.SGD([weight], lr=0.1)
step_of = aot_function(lambda w, x: (x @ w).tanh().square().sum(), fw_compiler=show, bw_compiler=show)
for step in range(4):
    optimizer.zero_grad()
    loss = step_of(weight, torch.ones(2, 3) * step)
    loss.backward()
    optimizer.step()
    print(step, loss.item(), len(seen))
for graph in seen:
    print(graph)
