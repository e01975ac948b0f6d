"""Global hooks on all modules and all optimizers: they see the user's calls, and no others."""
import torch
from torch import nn
from torch.nn.modules import module as hooks
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

log = []
torch.manual_seed(0)
handles = [
    hooks.register_module_forward_pre_hook(lambda m, a: log.append(f">{type(m).__name__}")),
    hooks.register_module_forward_hook(lambda m, a, o: log.append(f"<{type(m).__name__}")),
    hooks.register_module_full_backward_hook(lambda m, gi, go: log.append(f"b{type(m).__name__}")),
    hooks.register_module_module_registration_hook(lambda m, n, s: log.append(f"reg {n}")),
    hooks.register_module_parameter_registration_hook(lambda m, n, p: log.append(f"par {n}")),
    hooks.register_module_buffer_registration_hook(lambda m, n, b: log.append(f"buf {n}")),
    register_optimizer_step_pre_hook(lambda o, a, k: log.append("step>")),
    register_optimizer_step_post_hook(lambda o, a, k: log.append("step<")),
]
model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    optimizer.zero_grad()
    loss = model(torch.randn(4, 3)).square().mean()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), " ".join(log))
    log.clear()
for handle in handles:
    handle.remove()
model(torch.randn(4, 3)).sum().backward()
optimizer.step()
print(log)
