"""Fused backward and optimizer: every parameter has its own optimizer that steps in a post-accumulate hook."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizers = {p: torch.optim.AdamW([p], lr=0.01, foreach=False) for p in model.parameters()}
order = []


def step_and_clear(p):
    order.append(tuple(p.shape))
    optimizers[p].step()
    optimizers[p].zero_grad()


for p in model.parameters():
    p.register_post_accumulate_grad_hook(step_and_clear)
for step in range(5):
    loss = model(torch.randn(6, 4)).square().mean()
    loss.backward()
    print(step, loss.item(), order, [p.grad is None for p in model.parameters()])
    order.clear()
