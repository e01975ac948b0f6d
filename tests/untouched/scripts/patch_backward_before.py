"""Methods wrapped before the script began are called once a call, and are still there at the end."""

import torch
import users_site
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    model.zero_grad()
    loss = model(torch.randn(8, 4)).pow(2).mean()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), users_site.seen)
    users_site.seen.clear()
print(torch.Tensor.backward is users_site.mine)
