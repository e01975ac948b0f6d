"""Nested (jagged) tensors through a linear layer and a loss."""
import warnings

import torch
from torch import nn

warnings.simplefilter("ignore")
torch.manual_seed(0)
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    parts = [torch.randn(n, 4) for n in (2, 3, 1)]
    nested = torch.nested.nested_tensor(parts, layout=torch.jagged)
    optimizer.zero_grad()
    out = model(nested)
    loss = out.values().square().mean()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), type(out).__name__, out.is_nested, out.offsets().tolist())
strided = torch.nested.nested_tensor([torch.ones(1, 2), torch.ones(2, 2)])
print(strided.to_padded_tensor(0.0).sum().item(), strided.size(0))
