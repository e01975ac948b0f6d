"""Bars between the columns, and a line at the end of each epoch."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
import math

model = nn.Sequential(nn.Embedding(20, 8), nn.Linear(8, 20))
optimizer = torch.optim.SGD(model.parameters(), lr=2.0)
corpus = torch.randint(0, 20, (400,))


def evaluate(source):
    model.eval()
    total_loss = 0.0
    with torch.no_grad():
        for i in range(0, len(source) - 21, 20):
            total_loss += 20 * F.cross_entropy(model(source[i : i + 20]), source[i + 1 : i + 21]).item()
    return total_loss / (len(source) - 1)


for epoch in range(1, 4):
    model.train()
    total = 0.0
    for batch, i in enumerate(range(0, 280, 20), 1):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(corpus[i : i + 20]), corpus[i + 1 : i + 21])
        loss.backward()
        optimizer.step()
        total += loss.item()
        if batch % 7 == 0:
            cur = total / 7
            print(
                f"| epoch {epoch:3d} | {batch:5d}/{14:5d} batches | lr {2.0:02.2f} | loss {cur:5.2f} | ppl {math.exp(cur):8.2f}"
            )
            total = 0.0
    val_loss = evaluate(corpus[300:])
    print("-" * 89)
    print(
        f"| end of epoch {epoch:3d} | time: {1.25:5.2f}s | valid loss {val_loss:5.2f} | valid ppl {math.exp(val_loss):8.2f}"
    )
    print("-" * 89)
