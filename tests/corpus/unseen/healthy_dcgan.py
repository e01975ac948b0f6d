import torch
import torch.nn as nn
import torch.optim as optim
from sklearn.datasets import load_digits

torch.manual_seed(999)
nz, ngf, ndf = 16, 16, 16
images = torch.tensor(load_digits().images / 8.0 - 1.0, dtype=torch.float32).unsqueeze(1)
loader = torch.utils.data.DataLoader(images[:1280], batch_size=64, shuffle=True, drop_last=True)


def weights_init(m):
    name = m.__class__.__name__
    if name.find("Conv") != -1:
        nn.init.normal_(m.weight, 0.0, 0.02)
    elif name.find("BatchNorm") != -1:
        nn.init.normal_(m.weight, 1.0, 0.02)
        nn.init.zeros_(m.bias)


netG = nn.Sequential(
    nn.ConvTranspose2d(nz, ngf * 2, 2, 1, 0, bias=False), nn.BatchNorm2d(ngf * 2), nn.ReLU(True),
    nn.ConvTranspose2d(ngf * 2, ngf, 4, 2, 1, bias=False), nn.BatchNorm2d(ngf), nn.ReLU(True),
    nn.ConvTranspose2d(ngf, 1, 4, 2, 1, bias=False), nn.Tanh())
netD = nn.Sequential(
    nn.Conv2d(1, ndf, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, inplace=True),
    nn.Conv2d(ndf, ndf * 2, 4, 2, 1, bias=False), nn.BatchNorm2d(ndf * 2), nn.LeakyReLU(0.2, inplace=True),
    nn.Conv2d(ndf * 2, 1, 2, 1, 0, bias=False), nn.Sigmoid(), nn.Flatten(0))
netG.apply(weights_init)
netD.apply(weights_init)

criterion = nn.BCELoss()
fixed_noise = torch.randn(32, nz, 1, 1)
optimizerD = optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
optimizerG = optim.Adam(netG.parameters(), lr=1e-3, betas=(0.5, 0.999))

for epoch in range(6):
    for i, real in enumerate(loader):
        netD.zero_grad()
        label = torch.full((real.size(0),), 0.9)
        output = netD(real)
        errD_real = criterion(output, label)
        errD_real.backward()
        D_x = output.mean().item()
        fake = netG(torch.randn(real.size(0), nz, 1, 1))
        label.fill_(0.0)
        output = netD(fake.detach())
        errD_fake = criterion(output, label)
        errD_fake.backward()
        D_G_z1 = output.mean().item()
        optimizerD.step()

        netG.zero_grad()
        label.fill_(1.0)
        output = netD(fake)
        errG = criterion(output, label)
        errG.backward()
        optimizerG.step()
    with torch.no_grad():
        pic = netG(fixed_noise)
    print(f"[{epoch}] Loss_D: {(errD_real + errD_fake).item():.4f} Loss_G: {errG.item():.4f} "
          f"D(x): {D_x:.3f} D(G(z)): {D_G_z1:.3f} / {output.mean().item():.3f} mean pixel {pic.mean().item():.3f}")
