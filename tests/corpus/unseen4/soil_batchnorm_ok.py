import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(99)
N = 321
soil = torch.randn(N, 9)
moisture = (soil[:, :3] * torch.tensor([0.8, -0.5, 0.3])).sum(1, keepdim=True) + 0.1 * torch.randn(N, 1)
full = TensorDataset(soil, moisture)
train_set, val_set = random_split(full, [257, 64])


class SoilNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(9, 32)
        self.bn1 = nn.BatchNorm1d(32)
        self.fc2 = nn.Linear(32, 16)
        self.bn2 = nn.BatchNorm1d(16)
        self.out = nn.Linear(16, 1)

    def forward(self, x):
        x = F.relu(self.bn1(self.fc1(x)))
        x = F.relu(self.bn2(self.fc2(x)))
        return self.out(x)


class Trainer:
    def __init__(self, model, lr=5e-3, batch_size=32):
        self.model = model
        self.opt = torch.optim.AdamW(model.parameters(), lr=lr)
        self.train_loader = DataLoader(train_set, batch_size=batch_size, shuffle=True, drop_last=True)
        self.val_loader = DataLoader(val_set, batch_size=64)

    def fit(self, epochs):
        for epoch in range(epochs):
            self.model.train()
            for x, y in self.train_loader:
                self.opt.zero_grad()
                loss = F.mse_loss(self.model(x), y)
                loss.backward()
                self.opt.step()
            print(f"[{epoch}] val mse {self.validate():.4f}")

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        return sum(F.mse_loss(self.model(x), y, reduction="sum").item() for x, y in self.val_loader) / len(val_set)


Trainer(SoilNet()).fit(8)
