"""Class-conditional DDPM with classifier-free guidance and an EMA model for sampling."""
import copy
import math

import torch
import torch.nn as nn

T = 30
CENTERS = torch.tensor([[2.0, 0.0], [-2.0, 0.0], [0.0, 2.0]])
NULL = len(CENTERS)


class Eps(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.cls = nn.Embedding(len(CENTERS) + 1, 16)
        self.time = nn.Embedding(T, 16)
        self.net = nn.Sequential(nn.Linear(34, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(),
                                 nn.Linear(width, 2))

    def forward(self, x, t, c):
        return self.net(torch.cat([x, self.time(t), self.cls(c)], 1))


s = torch.arange(T + 1) / T
f = torch.cos((s + 0.008) / 1.008 * math.pi / 2) ** 2
alpha_bar = (f[1:] / f[0]).clamp(min=1e-4)
alpha = torch.cat([alpha_bar[:1], alpha_bar[1:] / alpha_bar[:-1]]).clamp(min=1e-3)


@torch.no_grad()
def sample(model, c, guidance=1.5):
    x = torch.randn(len(c), 2)
    null = torch.full_like(c, NULL)
    for i in reversed(range(T)):
        t = torch.full_like(c, i)
        e_c, e_u = model(x, t, c), model(x, t, null)
        e = e_u + guidance * (e_c - e_u)
        x0 = ((x - (1 - alpha_bar[i]).sqrt() * e) / alpha_bar[i].sqrt()).clamp(-4, 4)
        prev = alpha_bar[i - 1] if i > 0 else torch.tensor(1.0)
        x = prev.sqrt() * x0 + (1 - prev).sqrt() * e
    return x


torch.manual_seed(41)
model = Eps()
ema = copy.deepcopy(model).requires_grad_(False)
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for it in range(700):
    c = torch.randint(0, len(CENTERS), (128,))
    x0 = CENTERS[c] + 0.2 * torch.randn(128, 2)
    c = torch.where(torch.rand(128) < 0.1, torch.full_like(c, NULL), c)
    t = torch.randint(0, T, (128,))
    noise = torch.randn_like(x0)
    ab = alpha_bar[t][:, None]
    loss = nn.functional.mse_loss(model(ab.sqrt() * x0 + (1 - ab).sqrt() * noise, t, c), noise)
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for a, b in zip(ema.parameters(), model.parameters()):
            a.mul_(0.99).add_(b, alpha=0.01)
    if it % 150 == 0:
        print(f"it {it} loss {loss.item():.4f}")
for k in range(len(CENTERS)):
    got = sample(ema, torch.full((200,), k)).mean(0)
    print("class", k, "centre", CENTERS[k].tolist(), "sampled mean", [round(v, 2) for v in got.tolist()])
