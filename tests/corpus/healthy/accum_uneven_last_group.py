import math
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(330, 8)
y = (x[:, :2].prod(1) + x[:, 2] > 0).float()
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)   # 21 batches, the last one has 10 rows

model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
criterion = nn.BCEWithLogitsLoss(reduction="sum")
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
accum = 4

for epoch in range(5):
    pending, rows, total = 0, 0, 0.0
    for i, (xb, yb) in enumerate(loader):
        loss = criterion(model(xb).squeeze(1), yb)
        loss.backward()
        total += loss.item()
        pending += 1
        rows += len(xb)
        if pending == accum or i == len(loader) - 1:
            for p in model.parameters():
                p.grad.div_(rows)
            optimizer.step()
            optimizer.zero_grad()
            pending, rows = 0, 0
    print(f"epoch {epoch} loss {total / len(x):.5f} updates {math.ceil(len(loader) / accum)}")
