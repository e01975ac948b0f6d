"""Hooks on an optimizer: step, state_dict and load_state_dict, and a pre-hook that changes the arguments."""
import torch
from torch import nn

log = []
torch.manual_seed(0)
model = nn.Linear(4, 2)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
optimizer.register_step_pre_hook(lambda o, a, k: log.append(f"pre {len(a)}"))
optimizer.register_step_post_hook(lambda o, a, k: log.append("post"))
optimizer.register_state_dict_pre_hook(lambda o: log.append("sd pre"))
optimizer.register_state_dict_post_hook(lambda o, sd: log.append(f"sd post {sorted(sd)}"))
optimizer.register_load_state_dict_pre_hook(lambda o, sd: log.append("load pre"))
optimizer.register_load_state_dict_post_hook(lambda o: log.append("load post"))
for step in range(5):
    optimizer.zero_grad()
    loss = model(torch.randn(3, 4)).square().mean()
    loss.backward()
    optimizer.step()
    if step % 2:
        optimizer.load_state_dict(optimizer.state_dict())
    print(step, loss.item(), log, len(optimizer._optimizer_step_pre_hooks))
    log.clear()
optimizer.add_param_group({"params": [torch.zeros(2, requires_grad=True)], "lr": 1.0})
print(repr(optimizer))
