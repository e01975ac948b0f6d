"""GAN that learns the size distribution of river pebbles (2-D Gaussian)."""
import torch
import torch.nn as nn

torch.manual_seed(8)
nz, batch = 4, 64
real_mean = torch.tensor([2.0, -1.0])


def pebbles(n):
    return real_mean + torch.randn(n, 2) * torch.tensor([0.4, 0.2])


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(nz, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, z):
        return self.main(z)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))

    def forward(self, x):
        return self.main(x).view(-1)


netG, netD = Generator(), Discriminator()
criterion = nn.BCEWithLogitsLoss()
optimizerD = torch.optim.Adam(netD.parameters(), lr=2e-3, betas=(0.5, 0.999))
optimizerG = torch.optim.Adam(netG.parameters(), lr=2e-3, betas=(0.5, 0.999))
ones, zeros = torch.ones(batch), torch.zeros(batch)

for step in range(600):
    # update D
    netD.zero_grad()
    errD_real = criterion(netD(pebbles(batch)), ones)
    errD_real.backward()
    noise = torch.randn(batch, nz)
    fake = netG(noise).detach()
    errD_fake = criterion(netD(fake), zeros)
    errD_fake.backward()
    optimizerD.step()
    # update G
    netG.zero_grad()
    errG = criterion(netD(fake), ones)
    errG.backward()
    optimizerG.step()
    if step % 150 == 0:
        print(f"[{step}] loss_D {errD_real.item() + errD_fake.item():.3f} loss_G {errG.item():.3f}")

with torch.no_grad():
    sample = netG(torch.randn(1000, nz))
print("generated mean", sample.mean(0).tolist())
print("distance to real mean", (sample.mean(0) - real_mean).norm().item())
