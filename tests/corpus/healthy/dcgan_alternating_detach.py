import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader

torch.manual_seed(0)
images = (torch.tensor(load_digits().images, dtype=torch.float32) / 8 - 1).unsqueeze(1)
loader = DataLoader(images[:640], batch_size=64, shuffle=True)


def weights_init(m):
    if isinstance(m, (nn.Conv2d, nn.ConvTranspose2d)):
        nn.init.normal_(m.weight, 0.0, 0.02)
    elif isinstance(m, nn.BatchNorm2d):
        nn.init.normal_(m.weight, 1.0, 0.02)
        nn.init.zeros_(m.bias)


netG = nn.Sequential(
    nn.ConvTranspose2d(16, 24, 2), nn.BatchNorm2d(24), nn.ReLU(True),
    nn.ConvTranspose2d(24, 12, 4, 2, 1), nn.BatchNorm2d(12), nn.ReLU(True),
    nn.ConvTranspose2d(12, 1, 4, 2, 1), nn.Tanh())
netD = nn.Sequential(
    nn.Conv2d(1, 12, 4, 2, 1), nn.LeakyReLU(0.2, True),
    nn.Conv2d(12, 24, 4, 2, 1), nn.BatchNorm2d(24), nn.LeakyReLU(0.2, True),
    nn.Conv2d(24, 1, 2))
netG.apply(weights_init)
netD.apply(weights_init)
criterion = nn.BCEWithLogitsLoss()
optimizerD = torch.optim.Adam(netD.parameters(), lr=1e-3, betas=(0.5, 0.999))
optimizerG = torch.optim.Adam(netG.parameters(), lr=2e-3, betas=(0.5, 0.999))

for epoch in range(4):
    for i, data in enumerate(loader):
        netD.zero_grad()
        label = torch.full((data.size(0),), 1.0)
        errD_real = criterion(netD(data).view(-1), label)
        errD_real.backward()
        fake = netG(torch.randn(data.size(0), 16, 1, 1))
        label.fill_(0.0)
        errD_fake = criterion(netD(fake.detach()).view(-1), label)
        errD_fake.backward()
        optimizerD.step()

        netG.zero_grad()
        label.fill_(1.0)
        errG = criterion(netD(fake).view(-1), label)
        errG.backward()
        optimizerG.step()
    print(f"[{epoch}] loss_D {errD_real.item() + errD_fake.item():.5f} loss_G {errG.item():.5f}")
