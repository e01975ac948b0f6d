import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
ink = torch.tensor(load_digits().data[:512] / 16.0, dtype=torch.float32)


class Sampler(nn.Module):
    """Noise to ink; pixels that never carry ink stay empty."""

    def __init__(self, inside, noise=8, width=48):
        super().__init__()
        self.noise = noise
        self.register_buffer("inside", inside)
        self.net = nn.Sequential(nn.Linear(noise, width), nn.LeakyReLU(0.1), nn.Linear(width, 64), nn.Sigmoid())

    def forward(self, n):
        z = torch.randn(n, self.noise, device=self.inside.device)
        return self.net(z) * self.inside


def moments(batch):
    mean = batch.mean(dim=0)
    std = torch.sqrt(batch.var(dim=0) + 1e-6)
    return mean, std


def matching_loss(fake, real):
    fm, fs = moments(fake)
    rm, rs = moments(real)
    return (fm - rm).abs().mean() + (fs - rs).abs().mean()


sampler = Sampler(inside=(ink.amax(dim=0) > 0).float())
opt = torch.optim.AdamW(sampler.parameters(), lr=1e-2)
for step in range(100):
    real = ink[torch.randint(0, len(ink), (128,))]
    loss = matching_loss(sampler(128), real)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 9:
        print(f"step {step + 1:3d} moment gap {loss.item():.6f}")
