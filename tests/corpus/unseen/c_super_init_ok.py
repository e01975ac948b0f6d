import math

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class FourierFeatures(nn.Module):
    def __init__(self, n_freq=6):
        super().__init__()
        self.register_buffer("freq", 2.0 ** torch.arange(n_freq) * math.pi)

    def forward(self, x):
        z = x.unsqueeze(-1) * self.freq
        return torch.cat([z.sin(), z.cos()], -1).flatten(1)


class ImplicitImage(nn.Module):
    def __init__(self, width=64, n_freq=4):
        super().__init__()
        self.encode = FourierFeatures(n_freq)
        self.net = nn.Sequential(
            nn.Linear(4 * n_freq, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, xy):
        return torch.sigmoid(self.net(self.encode(xy)))


def target_image(size=32):
    g = torch.linspace(-1, 1, size)
    yy, xx = torch.meshgrid(g, g, indexing="ij")
    img = ((xx ** 2 + yy ** 2).sqrt() < 0.6).float() * 0.8 + 0.1 * torch.sin(8 * xx)
    coords = torch.stack([xx, yy], -1).view(-1, 2)
    return coords, img.clamp(0, 1).view(-1, 1)


def psnr(mse):
    return -10 * math.log10(mse)


coords, values = target_image()
loader = DataLoader(TensorDataset(coords, values), batch_size=128, shuffle=True)
model = ImplicitImage()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(15):
    for xy, v in loader:
        loss = nn.functional.mse_loss(model(xy), v)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 5 == 4:
        with torch.no_grad():
            full = nn.functional.mse_loss(model(coords), values).item()
        print(f"epoch {epoch + 1} psnr {psnr(full):.2f} dB")
