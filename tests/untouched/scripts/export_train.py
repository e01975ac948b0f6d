"""An exported program with dynamic shapes, decomposed, unflattened and trained as a module."""
import torch
from torch import nn
from torch.export import Dim, export, unflatten

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 1))
batch = Dim("batch", min=2, max=64)
program = export(model, (torch.randn(4, 3),), dynamic_shapes=({0: batch},))
print(len(program.graph.nodes), [str(node.target) for node in program.graph.nodes if node.op == "call_function"])
print(len(program.run_decompositions().graph.nodes), sorted(program.state_dict))
trained = program.module()
optimizer = torch.optim.SGD(trained.parameters(), lr=0.1)
for step in range(4):
    optimizer.zero_grad()
    loss = trained(torch.randn(4 + step, 3)).square().mean()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
flat = unflatten(program)
print(flat(torch.ones(2, 3)).sum().item(), [type(part).__name__ for part in flat.children()])
