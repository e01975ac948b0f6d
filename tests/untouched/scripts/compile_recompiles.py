"""How often dynamo compiles and recompiles, with fullgraph, changing shapes and flags; graphs are counted."""
import torch
import torch._dynamo
from torch import nn
from torch._dynamo.testing import CompileCounter
from torch._dynamo.utils import counters

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.scale = 1.0

    def forward(self, x):
        return torch.relu(self.fc(x)) * self.scale


model, counter = Net(), CompileCounter()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
compiled = torch.compile(model, backend=counter, fullgraph=True)
for step in range(6):
    model.scale = 2.0 if step > 3 else 1.0
    optimizer.zero_grad()
    loss = compiled(torch.randn(4 if step < 2 else 6, 3)).square().mean()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), counter.frame_count, counter.op_count)
model.eval()
with torch.no_grad():
    print(compiled(torch.ones(1, 3)).sum().item(), counter.frame_count)
print(dict(counters["stats"]), dict(counters["graph_break"]), dict(counters["frames"]))
explained = torch._dynamo.explain(lambda x: torch.sin(x) + 1)(torch.ones(2))
print(explained.graph_count, explained.graph_break_count, explained.op_count)
