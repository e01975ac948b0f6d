import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader

torch.manual_seed(0)
images = torch.tensor(load_digits().data / 8.0 - 1.0, dtype=torch.float32)
loader = DataLoader(images, batch_size=64, shuffle=True, drop_last=True)
nz = 16


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(nz, 64), nn.ReLU(True), nn.Linear(64, 64), nn.Tanh())

    def forward(self, z):
        return self.main(z)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Dropout(0.3), nn.Linear(64, 1), nn.Sigmoid())

    def forward(self, x):
        return self.main(x).view(-1)


netG, netD = Generator(), Discriminator()
criterion = nn.BCELoss()
optimizerD = torch.optim.Adam(netD.parameters(), lr=5e-4, betas=(0.5, 0.999))
optimizerG = torch.optim.Adam(netG.parameters(), lr=5e-4, betas=(0.5, 0.999))
real_label, fake_label = 1.0, 0.0

for epoch in range(4):
    for i, real in enumerate(loader):
        b = real.size(0)
        netD.zero_grad()
        label = torch.full((b,), real_label)
        errD_real = criterion(netD(real), label)
        errD_real.backward()
        fake = netG(torch.randn(b, nz))
        label.fill_(fake_label)
        errD_fake = criterion(netD(fake.detach()), label)
        errD_fake.backward()
        optimizerD.step()

        netG.zero_grad()
        label = torch.full((b,), real_label)
        output = netD(fake)
        errG = criterion(output, label)
        errG.backward()
        optimizerG.step()
    print(f"[{epoch}] Loss_D {(errD_real + errD_fake).item():.4f} Loss_G {errG.item():.4f} D(G(z)) {output.mean().item():.3f}")
