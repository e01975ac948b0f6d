import torch
import torch.nn as nn
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(60)
x = torch.rand(1200, 5) * 2 - 1
y = (torch.sin(4 * x[:, :1]) + x[:, 1:2] * x[:, 2:3]) + 0.02 * torch.randn(1200, 1)
train_dl = DataLoader(TensorDataset(x[:1000], y[:1000]), batch_size=25, shuffle=True)

EPOCHS = 30
DROP_EVERY_EPOCHS = 10

model = nn.Sequential(nn.Linear(5, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
scheduler = StepLR(optimizer, step_size=DROP_EVERY_EPOCHS, gamma=0.3)

for epoch in range(EPOCHS):
    total = 0.0
    for xb, yb in train_dl:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        scheduler.step()
        total += loss.item()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1} loss {total / len(train_dl):.5f}")

with torch.no_grad():
    print("held-out mse", criterion(model(x[1000:]), y[1000:]).item())
