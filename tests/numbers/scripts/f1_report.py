"""Precision, recall and F1 by a helper, confusion counts by the line."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(120, 5)
y = (x.sum(1, keepdim=True) > 0.5).float()
model = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.AdamW(model.parameters(), 2e-2)
criterion = nn.BCEWithLogitsLoss()
for epoch in range(1, 5):
    model.train()
    running_loss = 0.0
    for i in range(0, 90, 30):
        optimizer.zero_grad()
        loss = criterion(model(x[i : i + 30]), y[i : i + 30])
        loss.backward()
        optimizer.step()
        running_loss += loss.item() * 30
    model.eval()
    with torch.no_grad():
        pred = (model(x[90:]).sigmoid() > 0.5).float()
        tp = int((pred * y[90:]).sum())
        fp, fn = int((pred * (1 - y[90:])).sum()), int(((1 - pred) * y[90:]).sum())
        p, r = tp / max(tp + fp, 1), tp / max(tp + fn, 1)
        f1 = 2 * p * r / max(p + r, 1e-9)
    print(
        "Epoch {:02d}: train_loss={:.4f} P={:.3f} R={:.3f} F1={:.3f} (tp={}, fp={}, fn={})".format(
            epoch, running_loss / 90, p, r, f1, tp, fp, fn
        )
    )
print(f"best F1 {f1:.3f}")
