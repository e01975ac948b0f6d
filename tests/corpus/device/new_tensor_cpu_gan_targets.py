import torch
import torch.nn as nn

torch.manual_seed(3)
device = "cuda" if torch.cuda.is_available() else "cpu"
LATENT, BATCH, STEPS = 6, 64, 60


def real_batch(n):
    """Two moons, roughly."""
    t = torch.rand(n, device=device) * 3.1416
    up = torch.rand(n, device=device) < 0.5
    x = torch.where(up, t.cos(), 1 - t.cos())
    y = torch.where(up, t.sin(), 0.5 - t.sin())
    return torch.stack([x, y], 1) + 0.05 * torch.randn(n, 2, device=device)


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 32), nn.LeakyReLU(0.1), nn.Linear(32, 32), nn.LeakyReLU(0.1), nn.Linear(32, o))


gen, disc = mlp(LATENT, 2).to(device), mlp(2, 1).to(device)
g_opt = torch.optim.Adam(gen.parameters(), lr=1e-3, betas=(0.5, 0.99))
d_opt = torch.optim.Adam(disc.parameters(), lr=1e-3, betas=(0.5, 0.99))
criterion = nn.BCEWithLogitsLoss()


def train_discriminator(real, fake):
    real_label = torch.ones(real.size(0), 1)
    fake_label = torch.zeros(fake.size(0), 1)
    d_opt.zero_grad()
    loss = criterion(disc(real), real_label) + criterion(disc(fake.detach()), fake_label)
    loss.backward()
    d_opt.step()
    return loss.item()


def train_generator(fake):
    g_opt.zero_grad()
    pred = disc(fake)
    loss = criterion(pred, torch.ones_like(pred))
    loss.backward()
    g_opt.step()
    return loss.item()


for step in range(STEPS):
    fake = gen(torch.randn(BATCH, LATENT, device=device))
    d = train_discriminator(real_batch(BATCH), fake)
    g = train_generator(fake)
    if step % 15 == 0:
        print(f"{step:4d} d {d:.5f} g {g:.5f}")
