"""Tensor hooks, post-accumulate-grad hooks, node hooks, multi-grad hooks, retain_grad."""
import torch
from torch import nn

log = []
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for name, p in model.named_parameters():
    p.register_hook(lambda g, name=name: log.append(f"hook {name}"))
    p.register_post_accumulate_grad_hook(lambda p, name=name: log.append(f"acc {name} {p.grad is not None}"))
for step in range(4):
    optimizer.zero_grad()
    h = model[0](torch.randn(2, 3))
    h.retain_grad()
    h.register_hook(lambda g: g.clamp(-0.1, 0.1))
    handle = torch.autograd.graph.register_multi_grad_hook((h, model[2].weight), lambda gs: log.append(f"multi {len(gs)}"))
    loss = model[2](model[1](h)).square().mean()
    loss.grad_fn.register_hook(lambda gi, go: log.append("node"))
    loss.grad_fn.register_prehook(lambda go: log.append("prenode"))
    loss.backward()
    handle.remove()
    optimizer.step()
    print(step, loss.item(), h.grad.sum().item(), log, len(model[0].weight._backward_hooks))
    log.clear()
