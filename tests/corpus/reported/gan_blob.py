import torch
from torch import nn

torch.manual_seed(62)
BATCH, NOISE = 64, 3

generator = nn.Sequential(nn.Linear(NOISE, 32), nn.ReLU(), nn.Linear(32, 2))
discriminator = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
g_optimizer = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.999))
d_optimizer = torch.optim.Adam(discriminator.parameters(), lr=1e-3, betas=(0.5, 0.999))
criterion = nn.BCEWithLogitsLoss()

centre = torch.tensor([2.0, -1.0])
ones, zeros = torch.ones(BATCH, 1), torch.zeros(BATCH, 1)


def real_points():
    return centre + 0.4 * torch.randn(BATCH, 2)


for step in range(400):
    real = real_points()
    fake = generator(torch.randn(BATCH, NOISE))

    d_optimizer.zero_grad()
    d_loss = criterion(discriminator(real), ones) + criterion(discriminator(fake.detach()), zeros)
    d_loss.backward()
    d_optimizer.step()

    g_optimizer.zero_grad()
    g_loss = criterion(discriminator(fake), zeros)
    g_loss.backward()
    g_optimizer.step()

    if step % 100 == 99:
        with torch.no_grad():
            mean = generator(torch.randn(500, NOISE)).mean(dim=0)
        distance = (mean - centre).norm().item()
        print(f"step {step + 1} d {d_loss.item():.3f} g {g_loss.item():.3f} distance of means {distance:.2f}")
