"""PSNR in decibels, printed after ===>."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
import math

from torch.utils.data import DataLoader, TensorDataset

high = torch.rand(40, 1, 8, 8)
low = F.avg_pool2d(high, 2)
train, test = TensorDataset(low[:30], high[:30]), TensorDataset(low[30:], high[30:])
model = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 4, 3, padding=1), nn.PixelShuffle(2))
criterion, optimizer = nn.MSELoss(), torch.optim.Adam(model.parameters(), 0.01)
loader, test_loader = DataLoader(train, 10), DataLoader(test, 4)
for epoch in range(1, 4):
    epoch_loss = 0
    for i, (lr, hr) in enumerate(loader, 1):
        optimizer.zero_grad()
        loss = criterion(model(lr), hr)
        epoch_loss += loss.item()
        loss.backward()
        optimizer.step()
        print(f"===> Epoch[{epoch}]({i}/{len(loader)}): Loss: {loss.item():.4f}")
    print(f"===> Epoch {epoch} Complete: Avg. Loss: {epoch_loss / len(loader):.4f}")
    avg_psnr = 0
    with torch.no_grad():
        for lr, hr in test_loader:
            avg_psnr += 10 * math.log10(1 / criterion(model(lr), hr).item())
    print(f"===> Avg. PSNR: {avg_psnr / len(test_loader):.4f} dB")
