"""A word model whose weights move by p.data.add_."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 4))
criterion, lr = nn.CrossEntropyLoss(), 0.2
xs, ys = torch.randn(64, 6), torch.randint(0, 4, (64,))
for epoch in range(1, 4):
    total = 0.0
    for i in range(0, 64, 16):
        model.zero_grad()
        loss = criterion(model(xs[i : i + 16]), ys[i : i + 16])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        for p in model.parameters():
            p.data.add_(p.grad, alpha=-lr)
        total += loss.item()
    cur = total / 4
    print(
        f"| epoch {epoch:3d} | {4:5d}/{4:5d} batches | lr {lr:02.2f} | ms/batch {1.5:5.2f} | loss {cur:5.2f} | ppl {2.718281828**cur:8.2f}"
    )
