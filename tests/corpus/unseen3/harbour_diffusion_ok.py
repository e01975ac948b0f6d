import torch
import torch.nn as nn

torch.manual_seed(2)
T = 60
betas = torch.linspace(1e-3, 0.15, T)
alphas = 1.0 - betas
alphas_cumprod = torch.cumprod(alphas, dim=0)


def positions(n):
    """Ships lie at the busy west pier nine times out of ten."""
    east = (torch.rand(n, 1) < 0.1).float()
    return torch.cat([4 * east - 2, torch.zeros(n, 1)], dim=1) + 0.2 * torch.randn(n, 2)


class Denoiser(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.time = nn.Embedding(T, 32)
        self.net = nn.Sequential(nn.Linear(34, width), nn.SiLU(), nn.Linear(width, width),
                                 nn.SiLU(), nn.Linear(width, 2))

    def forward(self, x, t):
        return self.net(torch.cat([x, self.time(t)], dim=1))


def q_sample(x0, t, noise):
    a = alphas_cumprod[t].unsqueeze(1)
    return a.sqrt() * x0 + (1 - a).sqrt() * noise


@torch.no_grad()
def p_sample_loop(model, n):
    x = torch.randn(n, 2)
    for step in reversed(range(T)):
        t = torch.full((n,), step, dtype=torch.long)
        eps = model(x, t)
        x = (x - betas[step] / (1 - alphas_cumprod[step]).sqrt() * eps) / alphas[step].sqrt()
        if step > 0:
            x = x + betas[step].sqrt() * torch.randn_like(x)
    return x


model = Denoiser()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for it in range(800):
    x0 = positions(128)
    t = torch.randint(0, T, (128,))
    noise = torch.randn_like(x0)
    loss = nn.functional.mse_loss(model(q_sample(x0, t, noise), t), noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if it % 200 == 0:
        print(f"iter {it} loss {loss.item():.4f}")

samples = p_sample_loop(model, 1000)
print(f"share of samples at the west pier {(samples[:, 0] < 0).float().mean():.3f} (data 0.9)")
west = samples[samples[:, 0] < 0]
print(f"spread at the west pier {west.std(0).mean():.3f} (data 0.2)")
