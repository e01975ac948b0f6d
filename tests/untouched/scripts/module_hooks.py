"""Hooks of every kind on a module: order, arguments and counts."""
import torch
from torch import nn

log = []
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1))
model.register_forward_pre_hook(lambda m, a: log.append(f"pre {len(a)}"))
model.register_forward_pre_hook(lambda m, a, k: (log.append(f"pre kw {sorted(k)}"), None)[1], with_kwargs=True)
model.register_forward_hook(lambda m, a, out: log.append(f"post {tuple(out.shape)}"))
model[0].register_forward_hook(lambda m, a, out: out * 0.5)
model[0].register_forward_hook(lambda m, a, out: log.append("first"), prepend=True, always_call=True)
model.register_full_backward_pre_hook(lambda m, grad: log.append(f"bpre {len(grad)}"))
model.register_full_backward_hook(lambda m, gi, go: log.append(f"bpost {gi[0] is None}"))
model[2].register_full_backward_hook(lambda m, gi, go: (gi[0] * 2,))
model.register_state_dict_pre_hook(lambda m, prefix, keep: log.append("sd pre"))
model.register_state_dict_post_hook(lambda m, sd, prefix, meta: log.append(f"sd post {len(sd)}"))
model.register_load_state_dict_pre_hook(lambda m, sd, *rest: log.append("load pre"))
model.register_load_state_dict_post_hook(lambda m, keys: log.append(f"load post {keys}"))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    optimizer.zero_grad()
    loss = model(torch.randn(2, 4)).square().mean()
    loss.backward()
    optimizer.step()
    model.load_state_dict(model.state_dict())
    print(step, loss.item(), log, [len(m._forward_hooks) for m in model.modules()])
    log.clear()
