"""Optimizers of many kinds over the same data, fused, foreach and capturable flags, param groups."""
import torch
from torch import nn

torch.manual_seed(0)
data = torch.randn(6, 3)
made = [
    lambda p: torch.optim.SGD(p, lr=0.1, weight_decay=0.1, foreach=True),
    lambda p: torch.optim.Adam(p, lr=0.1, fused=True),
    lambda p: torch.optim.AdamW(p, lr=0.1, amsgrad=True, foreach=False),
    lambda p: torch.optim.RMSprop(p, lr=0.1, centered=True),
    lambda p: torch.optim.RAdam(p, lr=0.1),
    lambda p: torch.optim.Adafactor(p, lr=0.1),
    lambda p: torch.optim.Adadelta([{"params": list(p), "rho": 0.8}], lr=0.1),
]
for make in made:
    model = nn.Linear(3, 1)
    optimizer = make(model.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        loss = model(data).square().mean()
        loss.backward()
        optimizer.step()
    print(type(optimizer).__name__, loss.item(), model.weight.sum().item(), sorted(optimizer.state[model.weight]))
