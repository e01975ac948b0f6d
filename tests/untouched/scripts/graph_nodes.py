"""The autograd graph as the script sees it: nodes, metadata, saved tensors, edges, hooks on nodes and on many tensors."""
import torch
from torch import nn
from torch.autograd import graph

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def walk(node, depth=0):
    if node is None or depth > 8:
        return
    saved = sorted(name for name in dir(node) if name.startswith(("_saved", "_raw")))
    print(" " * depth, node.name(), dict(node.metadata), len(node.next_functions), saved)
    for inner, _ in node.next_functions:
        walk(inner, depth + 1)


for step in range(4):
    optimizer.zero_grad()
    hidden = model[1](model[0](torch.randn(2, 3)))
    loss = model[2](hidden).square().mean()
    walk(loss.grad_fn)
    calls = []
    loss.grad_fn.register_hook(lambda given, made: calls.append(("node", len(given), len(made))))
    loss.grad_fn.register_prehook(lambda given: calls.append(("pre", len(given))))
    graph.register_multi_grad_hook(list(model.parameters()), lambda grads: calls.append(("multi", len(grads))))
    edge = graph.get_gradient_edge(hidden)
    with graph.allow_mutation_on_saved_tensors():
        pass
    (grad,) = torch.autograd.grad(loss, edge, retain_graph=True)
    loss.backward()
    optimizer.step()
    print(calls, grad.norm().item(), hidden.grad_fn.metadata, loss._version, type(hidden.grad_fn).__name__)
