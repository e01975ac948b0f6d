import torch
import torch.nn as nn
from sklearn.datasets import make_moons

torch.manual_seed(3)
T = 60
betas = torch.linspace(1e-4, 0.12, T)
alphas = 1.0 - betas
alphas_cumprod = torch.cumprod(alphas, dim=0)

data, _ = make_moons(2000, noise=0.05, random_state=3)
data = torch.tensor(data, dtype=torch.float32)
data = (data - data.mean(0)) / data.std(0)


class NoisePredictor(nn.Module):
    def __init__(self, hidden=96):
        super().__init__()
        self.time = nn.Embedding(T, 24)
        self.net = nn.Sequential(nn.Linear(26, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(),
                                 nn.Linear(hidden, 2))

    def forward(self, x, t):
        return self.net(torch.cat([x, self.time(t)], dim=1))


def q_sample(x0, t, noise):
    a = alphas[t].unsqueeze(1)
    return a.sqrt() * x0 + (1 - a).sqrt() * noise


@torch.no_grad()
def sample(model, n):
    x = torch.randn(n, 2)
    for step in reversed(range(T)):
        t = torch.full((n,), step)
        eps = model(x, t)
        x = (x - betas[step] / (1 - alphas_cumprod[step]).sqrt() * eps) / alphas[step].sqrt()
        if step > 0:
            x = x + betas[step].sqrt() * torch.randn_like(x)
    return x


model = NoisePredictor()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for it in range(1200):
    x0 = data[torch.randint(0, len(data), (128,))]
    t = torch.randint(0, T, (128,))
    noise = torch.randn_like(x0)
    loss = ((model(q_sample(x0, t, noise), t) - noise) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 300 == 299:
        print(f"iter {it + 1}: loss {loss.item():.4f}")

samples = sample(model, 500)
dist = torch.cdist(samples, data)
energy = 2 * dist.mean() - torch.cdist(samples, samples).mean() - torch.cdist(data, data).mean()
print("sample std", samples.std(0).tolist(), "energy distance", energy.item())
