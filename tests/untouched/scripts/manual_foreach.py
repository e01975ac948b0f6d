"""Updates with torch._foreach functions and in-place views, no optimizer object at all."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
params = list(model.parameters())
momentum = [torch.zeros_like(p) for p in params]
for step in range(6):
    loss = model(torch.randn(5, 4)).square().mean()
    grads = torch.autograd.grad(loss, params)
    with torch.no_grad():
        torch._foreach_mul_(momentum, 0.9)
        torch._foreach_add_(momentum, grads)
        torch._foreach_add_(params, momentum, alpha=-0.05)
        params[0].view(-1)[0] = 0.0
        params[1].data.clamp_(-1, 1)
    print(step, loss.item(), params[0]._version, params[0].grad is None)
nn.utils.vector_to_parameters(nn.utils.parameters_to_vector(params) * 0.5, params)
print(sum(p.sum().item() for p in params))
