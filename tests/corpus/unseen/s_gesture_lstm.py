import math

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(12)


class GestureDataset(Dataset):
    """Accelerometer-like traces; the order of the two bumps decides the class."""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.y = torch.randint(0, 2, (n,), generator=g)
        self.x = 0.2 * torch.randn(n, 20, 3, generator=g)
        for i in range(n):
            first, second = (0, 1) if self.y[i] == 0 else (1, 0)
            a = int(torch.randint(2, 6, (1,), generator=g))
            b = int(torch.randint(8, 12, (1,), generator=g))
            self.x[i, a:a + 3, first] += 1.5
            self.x[i, b:b + 3, second] += 1.5

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class GestureNet(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.lstm = nn.LSTM(3, hidden, num_layers=1)
        self.fc = nn.Linear(hidden, 2)

    def forward(self, x):
        out, _ = self.lstm(x)
        return self.fc(out[:, -1, :])


train_loader = DataLoader(GestureDataset(600, 0), batch_size=30, shuffle=True)
val_loader = DataLoader(GestureDataset(200, 1), batch_size=50)
net = GestureNet()
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(6):
    net.train()
    total_loss = 0.0
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
        total_loss += loss.item()
    net.eval()
    good = total = 0
    with torch.no_grad():
        for x, y in val_loader:
            good += (net(x).argmax(1) == y).sum().item()
            total += len(y)
    print(f"Epoch {epoch}: loss {total_loss / len(train_loader):.4f}, val acc {100 * good / total:.1f}%")
