"""no_grad, inference_mode, set_grad_enabled, eval and train: the flags are the user's."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    model.train()
    optimizer.zero_grad()
    loss = model(torch.randn(4, 3)).square().mean()
    loss.backward()
    optimizer.step()
    model.eval()
    with torch.inference_mode():
        a = model(torch.randn(4, 3))
    with torch.no_grad():
        b = model(torch.randn(4, 3))
    with torch.set_grad_enabled(step % 2 == 0):
        c = model(torch.randn(4, 3))
    print(step, loss.item(), a.is_inference(), b.requires_grad, c.requires_grad, a.sum().item(), torch.is_grad_enabled())
torch.set_grad_enabled(False)
print(model(torch.ones(2, 3)).requires_grad, torch.is_grad_enabled())
try:
    a.add_(1).requires_grad_()
except RuntimeError as error:
    print(str(error).splitlines()[0])
