import torch
import torch.nn as nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
STEPS = 50


class Denoiser(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.time = nn.Embedding(STEPS, d)
        self.inp = nn.Linear(2, d)
        self.mid = nn.Sequential(nn.SiLU(), nn.Linear(d, d), nn.SiLU())
        self.out = nn.Linear(d, 2)

    def forward(self, x, t):
        return self.out(self.mid(self.inp(x) + self.time(t)))


class Diffusion:
    def __init__(self):
        beta = torch.linspace(1e-4, 0.1, STEPS, device=device)
        self.beta, self.alpha = beta, 1 - beta
        self.bar = torch.cumprod(self.alpha, dim=0)

    def noisy(self, x0, t, eps):
        ab = self.bar[t].unsqueeze(1)
        return ab.sqrt() * x0 + (1 - ab).sqrt() * eps

    @torch.no_grad()
    def sample(self, model, n):
        model.eval()
        x = torch.randn(n, 2, device=device)
        for i in reversed(range(STEPS)):
            t = torch.full((n,), i, device=device)
            eps = model(x, t)
            x = (x - self.beta[i] / (1 - self.bar[i]).sqrt() * eps) / self.alpha[i].sqrt()
            if i > 0:
                x = x + self.beta[i].sqrt() * torch.randn_like(x)
        model.train()
        return x


def data(n):
    a = torch.rand(n, device=device) * 6.2832
    return torch.stack([a.cos(), a.sin()], 1)


diffusion, model = Diffusion(), Denoiser().to(device)
opt = torch.optim.AdamW(model.parameters(), lr=5e-3)
for it in range(120):
    x0 = data(128)
    t = torch.randint(0, STEPS, (128,), device=device)
    eps = torch.randn_like(x0)
    loss = nn.functional.mse_loss(model(diffusion.noisy(x0, t, eps), t), eps)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    if it % 20 == 0:
        print(f"it {it} loss {loss.item():.5f}")
print(f"radius of samples {diffusion.sample(model, 64).norm(dim=1).mean().item():.4f}")
