"""Two views of each sample, a temperature, top-1 among the negatives."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
net = nn.Linear(10, 6)
opt = torch.optim.Adam(net.parameters(), 0.01)
for step in range(12):
    base = torch.randn(16, 10)
    a, b = (F.normalize(net(base + 0.1 * torch.randn_like(base)), dim=1) for _ in range(2))
    logits = a @ b.t() / 0.1
    labels = torch.arange(16)
    loss = F.cross_entropy(logits, labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 3 == 2:
        top1 = (logits.argmax(1) == labels).float().mean() * 100
        print(f"step {step}\tInfoNCE: {loss.item():.4f}\tTop1 accuracy: {top1.item():.2f}")
