import torch
from torch import nn

torch.manual_seed(0)
T = 50
betas = torch.linspace(1e-4, 0.2, T)
alphas = 1 - betas
alpha_bar = torch.cumprod(alphas, 0)


def moons(n):
    t = torch.rand(n) * 3.14159
    top = torch.rand(n) < 0.5
    x = torch.where(top, torch.cos(t), 1 - torch.cos(t))
    y = torch.where(top, torch.sin(t), 0.5 - torch.sin(t))
    pts = torch.stack([x, y], 1)
    return (pts - torch.tensor([0.5, 0.25])) * 1.4


class Denoiser(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.time = nn.Embedding(T, 16)
        self.net = nn.Sequential(
            nn.Linear(2 + 16, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 2))

    def forward(self, x, t):
        return self.net(torch.cat([x, self.time(t)], 1))


def q_sample(x0, t):
    noise = torch.rand(x0.shape)
    ab = alpha_bar[t].unsqueeze(1)
    return ab.sqrt() * x0 + (1 - ab).sqrt() * noise, noise


@torch.no_grad()
def sample(model, n):
    x = torch.randn(n, 2)
    for i in reversed(range(T)):
        t = torch.full((n,), i, dtype=torch.long)
        eps = model(x, t)
        x = (x - betas[i] / (1 - alpha_bar[i]).sqrt() * eps) / alphas[i].sqrt()
        if i > 0:
            x = x + betas[i].sqrt() * torch.randn_like(x)
    return x


model = Denoiser()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(600):
    x0 = moons(128)
    t = torch.randint(0, T, (128,))
    xt, noise = q_sample(x0, t)
    loss = nn.functional.mse_loss(model(xt, t), noise)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 150 == 0:
        print(f"step {step} loss {loss.item():.4f}")

gen, ref = sample(model, 1000), moons(1000)
print("sample mean", gen.mean(0).tolist(), "std", gen.std(0).tolist())
print("nearest real distance", torch.cdist(gen, ref).min(1).values.mean().item())
