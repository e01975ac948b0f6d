"""Conflicting task gradients are projected by hand before the step."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 2))
params = list(net.parameters())
opt = torch.optim.Adam(params, lr=1e-2)
net[0].weight.register_hook(lambda g: g * 0.5)          # slower first layer


def flat_grad(loss, keep):
    return torch.cat([g.flatten() for g in torch.autograd.grad(loss, params, retain_graph=keep)])


for step in range(100):
    x = torch.randn(64, 5)
    out = net(x)
    l1 = nn.functional.mse_loss(out[:, 0], torch.sin(2 * x[:, 0]) + x[:, 1])
    l2 = nn.functional.mse_loss(out[:, 1], x[:, 2].abs())
    g1, g2 = flat_grad(l1, True), flat_grad(l2, False)
    if (dot := g1 @ g2) < 0:
        g1, g2 = g1 - dot / g2.norm() ** 2 * g2, g2 - dot / g1.norm() ** 2 * g1
    merged, i = g1 + g2, 0
    for p in params:
        p.grad = merged[i:i + p.numel()].view_as(p).clone()
        i += p.numel()
    opt.step()
    if step % 20 == 0:
        print(f"step {step} {l1.item():.5f} {l2.item():.5f}")
