import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(50)


class PlumeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 16, 3, padding=1)
        self.c2 = nn.Conv2d(16, 16, 3, padding=1)
        self.fc = nn.Linear(16, 1)

    def forward(self, x):
        x = F.relu(self.c1(x))
        x = F.relu(self.c2(x))
        return self.fc(x.mean(dim=(2, 3))).squeeze(1)


def make(n):
    strength = torch.rand(n)
    x = torch.randn(n, 1, 20, 20) * 0.3 + strength.view(-1, 1, 1, 1)
    return TensorDataset(x, strength)


def validate(model, loader):
    model.eval()
    outputs, targets = [], []
    for x, y in loader:
        outputs.append(model(x))
        targets.append(y)
    return F.mse_loss(torch.cat(outputs), torch.cat(targets)).item()


train_loader = DataLoader(make(256), batch_size=32, shuffle=True)
val_loader = DataLoader(make(1600), batch_size=64)
model = PlumeNet()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    model.train()
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} train {loss.item():.4f} val {validate(model, val_loader):.4f}")
