import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(2)


class NoisyTranslator(nn.Module):
    """Dropout is this generator's only source of noise, so it is on at test time as well."""

    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(1, 12, 4, stride=2, padding=1)
        self.up = nn.ConvTranspose2d(12, 1, 4, stride=2, padding=1)

    def forward(self, x):
        h = F.leaky_relu(self.down(x), 0.2)
        h = F.dropout(h, p=0.3, training=True)
        return torch.tanh(self.up(h))


def pairs(n):
    x = F.interpolate(torch.randn(n, 1, 3, 3), size=12, mode="bilinear")
    return torch.tanh(x), torch.tanh(-x)


G = NoisyTranslator()
D = nn.Sequential(nn.Conv2d(2, 12, 4, stride=2, padding=1), nn.LeakyReLU(0.2), nn.Conv2d(12, 1, 3, padding=1))
og = torch.optim.Adam(G.parameters(), 3e-3, betas=(0.5, 0.999))
od = torch.optim.Adam(D.parameters(), 1e-3, betas=(0.5, 0.999))
for step in range(50):
    x, y = pairs(16)
    fake = G(x)
    real_logit, fake_logit = D(torch.cat([x, y], 1)), D(torch.cat([x, fake.detach()], 1))
    d_loss = 0.5 * (F.binary_cross_entropy_with_logits(real_logit, torch.ones_like(real_logit))
                    + F.binary_cross_entropy_with_logits(fake_logit, torch.zeros_like(fake_logit)))
    od.zero_grad()
    d_loss.backward()
    od.step()
    logit = D(torch.cat([x, fake], 1))
    l1 = F.l1_loss(fake, y)
    g_loss = F.binary_cross_entropy_with_logits(logit, torch.ones_like(logit)) + 20 * l1
    og.zero_grad()
    g_loss.backward()
    og.step()
    if step % 10 == 0:
        print(f"{step:2d} d {d_loss.item():.5f} l1 {l1.item():.5f}")

with torch.no_grad():
    x, _ = pairs(1)
    draws = torch.stack([G(x) for _ in range(8)])
print(f"spread of samples {draws.std(0).mean().item():.5f}")
