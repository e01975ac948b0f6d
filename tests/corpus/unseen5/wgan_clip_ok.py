"""The original WGAN: weight clipping, critic loss that goes negative, RMSprop."""
import torch
import torch.nn as nn

torch.manual_seed(31)
TARGET_MEAN, TARGET_STD = 3.0, 0.5
critic = nn.Sequential(nn.Linear(1, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
generator = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1))
optim_c = torch.optim.RMSprop(critic.parameters(), lr=2e-3)
optim_g = torch.optim.RMSprop(generator.parameters(), lr=2e-3)
CLIP, N_CRITIC, BATCH = 0.1, 5, 64


def real_batch():
    return TARGET_MEAN + TARGET_STD * torch.randn(BATCH, 1)


def clip_weights(module, c):
    for p in module.parameters():
        p.data.clamp_(-c, c)


for it in range(250):
    for _ in range(N_CRITIC):
        fake = generator(torch.randn(BATCH, 2)).detach()
        loss_c = -(critic(real_batch()).mean() - critic(fake).mean())
        optim_c.zero_grad()
        loss_c.backward()
        optim_c.step()
        clip_weights(critic, CLIP)
    loss_g = -critic(generator(torch.randn(BATCH, 2))).mean()
    optim_g.zero_grad()
    loss_g.backward()
    optim_g.step()
    if it % 50 == 0:
        print(f"it {it} wasserstein estimate {-loss_c.item():+.4f} gen loss {loss_g.item():+.4f}")

with torch.no_grad():
    out = generator(torch.randn(2000, 2))
print(f"generated mean {out.mean().item():.3f} std {out.std().item():.3f}")
