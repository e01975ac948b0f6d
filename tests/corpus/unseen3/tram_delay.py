import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(40)
X = torch.rand(960, 6) * 2 - 1
delay = torch.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3].abs() + 0.05 * torch.randn(960)
train_loader = DataLoader(TensorDataset(X[:800], delay[:800]), batch_size=20, shuffle=True)

model = nn.Sequential(nn.Linear(6, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
EPOCHS = 12
# divide the learning rate by ten every 5 epochs
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=5, gamma=0.1)

for epoch in range(EPOCHS):
    model.train()
    epoch_loss = 0.0
    for features, target in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(features).squeeze(1), target)
        loss.backward()
        optimizer.step()
        scheduler.step()
        epoch_loss += loss.item()
    print(f"epoch {epoch + 1}/{EPOCHS} train mse {epoch_loss / len(train_loader):.4f}")

model.eval()
with torch.no_grad():
    mse = criterion(model(X[800:]).squeeze(1), delay[800:]).item()
print(f"test mse {mse:.4f} (variance {delay[800:].var():.4f})")
