"""DDPM with a small U-Net on 8x8 digits."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


class Block(nn.Module):
    def __init__(self, cin, cout, tdim):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, padding=1)
        self.conv2 = nn.Conv2d(cout, cout, 3, padding=1)
        self.norm = nn.GroupNorm(4, cout)
        self.time = nn.Linear(tdim, cout)

    def forward(self, x, temb):
        h = F.silu(self.conv1(x))
        shift = self.time(temb)[:, :, None, None]
        return F.silu(self.norm(self.conv2(h + shift)))


class UNet(nn.Module):
    def __init__(self, base=16, tdim=32, steps=60):
        super().__init__()
        self.temb = nn.Sequential(nn.Embedding(steps, tdim), nn.Linear(tdim, tdim), nn.SiLU())
        self.down1 = Block(1, base, tdim)
        self.down2 = Block(base, base * 2, tdim)
        self.up = Block(base * 3, base, tdim)
        self.out = nn.Conv2d(base, 1, 1)

    def forward(self, x, t):
        temb = self.temb(t)
        high = self.down1(x, temb)
        low = self.down2(F.avg_pool2d(high, 2), temb)
        merged = torch.cat([high, F.interpolate(low, scale_factor=2)], dim=1)
        return self.out(self.up(merged, temb))


class Schedule:
    def __init__(self, steps):
        self.betas = torch.linspace(1e-3, 0.08, steps)
        self.alphas = 1 - self.betas
        self.bar = self.alphas.cumprod(0)

    def noisy(self, x, t, noise):
        bar = self.bar[t].view(-1, 1, 1, 1)
        return bar.sqrt() * x + (1 - bar).sqrt() * noise


def main(steps=60, iterations=200):
    torch.manual_seed(21)
    images = torch.tensor(load_digits().images, dtype=torch.float32).unsqueeze(1) / 8 - 1
    schedule, model = Schedule(steps), UNet(steps=steps)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    recent = []
    for iteration in range(iterations):
        x = images[torch.randint(0, len(images), (64,))]
        t = torch.randint(0, steps, (64,))
        noise = torch.randn_like(x)
        loss = F.mse_loss(model(schedule.noisy(x, t, noise), t), noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        recent.append(loss.item())
        if iteration % 50 == 49:
            print(f"iteration {iteration} loss {sum(recent[-50:]) / 50:.4f}")


if __name__ == "__main__":
    main()
