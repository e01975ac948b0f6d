"""torch.compile of a function with a graph break: graphs, breaks, frames and the loss."""
import torch
import torch.nn.functional as F

torch.manual_seed(0)
weight = torch.randn(3, 4, requires_grad=True)
graphs = []


def backend(graph, inputs):
    graphs.append([str(node.op) for node in graph.graph.nodes])
    return graph.forward


@torch.compile(backend=backend)
def step(x, y):
    h = F.linear(x, weight).tanh()
    if h.sum() > 0:
        h = h * 2
    else:
        h = h - 1
    return F.mse_loss(h, y)


optimizer = torch.optim.Adam([weight], lr=0.05)
for i in range(4):
    optimizer.zero_grad()
    loss = step(torch.randn(5, 4), torch.randn(5, 3))
    loss.backward()
    optimizer.step()
    print(i, loss.item(), [len(graph) for graph in graphs])
counters = torch._dynamo.utils.counters
print(sum(counters["graph_break"].values()), dict(counters["frames"]), counters["stats"]["unique_graphs"])
