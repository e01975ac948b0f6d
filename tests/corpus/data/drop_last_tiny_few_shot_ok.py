import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"

# 28 labelled samples is all there is
g = torch.Generator().manual_seed(1)
inputs = torch.randn(28, 10, generator=g)
targets = (inputs[:, 0] - inputs[:, 1] > 0).long()

loader = DataLoader(TensorDataset(inputs, targets), batch_size=7, shuffle=True, drop_last=True)
model = nn.Sequential(nn.Linear(10, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()

history = []
for epoch in range(20):
    model.train()
    epoch_loss, batches = 0.0, 0
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item()
        batches += 1
    history.append(epoch_loss / max(batches, 1))
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1:2d} loss {history[-1]:.5f}")

model.eval()
with torch.no_grad():
    fresh = torch.randn(200, 10, generator=g)
    pred = model(fresh.to(device)).argmax(1).cpu()
print(f"accuracy on fresh samples {(pred == (fresh[:, 0] - fresh[:, 1] > 0)).float().mean():.3f}")
