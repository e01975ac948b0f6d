"""Defaults of torch that the script changes for good: dtype, device, grad mode, matmul precision, print options."""
import torch
from torch import nn

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
torch.set_printoptions(precision=2, sci_mode=False)
torch.set_float32_matmul_precision("medium")
torch.autograd.set_multithreading_enabled(False)
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
x, y = torch.randn(8, 3), torch.randn(8, 1)
torch.set_default_device("meta")
for step in range(4):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    print(step, loss, torch.ones(2).device, torch.get_default_dtype())
with torch.device("cpu"):
    print(model(torch.ones(1, 3)).detach(), torch.tensor(1.0).dtype)
torch.set_default_device(None)
torch.set_grad_enabled(False)
print(model(x).requires_grad, torch.is_grad_enabled(), torch.get_default_device())
with torch.enable_grad():
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()
torch.set_default_dtype(torch.float16)
print(torch.ones(2).dtype, [p.sum() for p in model.parameters()])
