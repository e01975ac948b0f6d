import torch
import torch.nn as nn
from sklearn.datasets import make_moons

torch.manual_seed(0)
NOISE, BATCH, STEPS = 8, 128, 400
bce = nn.BCEWithLogitsLoss()

data, _ = make_moons(4000, noise=0.05, random_state=0)
data = torch.tensor(data, dtype=torch.float32)
data = (data - data.mean(0)) / data.std(0)


def network(n_in, n_out):
    return nn.Sequential(
        nn.Linear(n_in, 64), nn.LeakyReLU(0.2),
        nn.Linear(64, 64), nn.LeakyReLU(0.2),
        nn.Linear(64, n_out),
    )


generator = network(NOISE, 2)
discriminator = network(2, 1)
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(discriminator.parameters(), lr=1e-3, betas=(0.5, 0.999))
ones, zeros = torch.ones(BATCH, 1), torch.zeros(BATCH, 1)


def nearest_distance():
    with torch.no_grad():
        fake = generator(torch.randn(500, NOISE))
        d = torch.cdist(fake, data[:1500])
    return d.min(dim=1).values.mean().item(), d.min(dim=0).values.mean().item()


for step in range(1, STEPS + 1):
    real = data[torch.randint(len(data), (BATCH,))]
    fake = generator(torch.randn(BATCH, NOISE))

    loss_d = bce(discriminator(real), ones) + bce(discriminator(fake.detach()), zeros)
    loss_d.backward()
    opt_d.step()

    loss_g = bce(discriminator(fake), ones)
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()

    if step % 100 == 0:
        quality, coverage = nearest_distance()
        print(f"step {step} D {loss_d.item():.3f} G {loss_g.item():.3f} quality {quality:.3f} coverage {coverage:.3f}")
