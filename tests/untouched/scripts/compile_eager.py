"""torch.compile with fullgraph=True and a backend that counts graphs, nodes and recompiles."""

import torch
from torch import nn

graphs = []


def backend(graph, inputs):
    graphs.append([f"{node.op}:{getattr(node.target, '__name__', node.target)}" for node in graph.graph.nodes if node.op != "placeholder"])
    return graph.forward


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
compiled = torch.compile(model, backend=backend, fullgraph=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    optimizer.zero_grad()
    loss = compiled(torch.randn(4 if step < 3 else 5, 4)).square().mean()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), len(graphs))
for graph in graphs:
    print(graph)
print(torch._dynamo.utils.counters["stats"]["unique_graphs"], dict(torch._dynamo.utils.counters["graph_break"]))
