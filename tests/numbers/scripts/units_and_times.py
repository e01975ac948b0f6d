"""Time stamps, percentages and units around the numbers."""

import time

import torch
from torch import nn

torch.manual_seed(0)
model = nn.LSTM(6, 12)
head = nn.Linear(12, 4)
params = [*model.parameters(), *head.parameters()]
optimizer = torch.optim.Adam(params, 1e-2)
criterion = nn.CrossEntropyLoss()
for epoch in range(3):
    total, right, seen = 0.0, 0, 0
    for i in range(6):
        x, y = torch.randn(5, 8, 6), torch.randint(0, 4, (8,))
        out = head(model(x)[0][-1])
        loss = criterion(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        right += (out.argmax(1) == y).sum().item()
        seen += len(y)
    print(
        f"[{time.strftime('%H:%M:%S')}] epoch {epoch + 1}/3 | train CE = {total / 6:.4f} | err = {100 * (1 - right / seen):.1f}% | 0m 12s | {1234.5:.1f} samples/sec"
    )
