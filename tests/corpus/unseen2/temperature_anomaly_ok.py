import math

import torch
from torch import nn, optim
from torch.utils.data import DataLoader, random_split, TensorDataset


def build_dataset(n=1500):
    lat = torch.rand(n) * 180 - 90
    month = torch.randint(0, 12, (n,)).float()
    elev = torch.rand(n) * 3
    season = torch.cos(2 * math.pi * (month - 6) / 12)
    anomaly = 1.5 * season * torch.sign(lat) - 0.5 * elev + 0.01 * lat + 0.2 * torch.randn(n)
    feats = torch.stack([lat / 90, torch.sin(2 * math.pi * month / 12), torch.cos(2 * math.pi * month / 12),
                         elev / 3], dim=1)
    return TensorDataset(feats, anomaly.unsqueeze(1))


class MLP(nn.Module):
    def __init__(self, sizes=(4, 64, 32, 1)):
        super().__init__()
        layers = []
        for a, b in zip(sizes[:-2], sizes[1:-1]):
            layers += [nn.Linear(a, b), nn.ReLU()]
        layers.append(nn.Linear(sizes[-2], sizes[-1]))
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x)


def train():
    torch.manual_seed(8)
    train_ds, test_ds = random_split(build_dataset(), [1200, 300])
    model = MLP()
    opt = optim.Adam(model.parameters(), lr=3e-3)
    criterion = nn.MSELoss()
    for epoch in range(12):
        total = 0.0
        for x, y in DataLoader(train_ds, batch_size=32, shuffle=True):
            opt.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            opt.step()
            total += loss.item() * len(x)
        print(f"epoch {epoch + 1:02d} mse {total / len(train_ds):.4f}")
    x, y = test_ds[:]
    with torch.no_grad():
        pred = model(x)
    print(f"test mse {criterion(pred, y).item():.4f}  mean pred {pred.mean():.3f}  mean target {y.mean():.3f}")


if __name__ == "__main__":
    train()
