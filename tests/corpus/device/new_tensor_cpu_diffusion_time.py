import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda:0") if torch.cuda.is_available() else torch.device("cpu")


class Denoiser(nn.Module):
    def __init__(self, steps, width=48):
        super().__init__()
        self.t_embed = nn.Embedding(steps, 16)
        self.net = nn.Sequential(nn.Linear(2 + 16, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 2))

    def forward(self, x, t):
        return self.net(torch.cat([x, self.t_embed(t)], dim=1))


class DDPM(nn.Module):
    def __init__(self, steps=40):
        super().__init__()
        self.steps = steps
        self.model = Denoiser(steps)
        betas = torch.linspace(1e-3, 0.2, steps)
        self.register_buffer("abar", torch.cumprod(1 - betas, dim=0))

    def loss(self, x0):
        t = torch.randint(0, self.steps, (x0.shape[0],))
        noise = torch.randn_like(x0)
        ab = self.abar[t].unsqueeze(1)
        xt = ab.sqrt() * x0 + (1 - ab).sqrt() * noise
        return nn.functional.mse_loss(self.model(xt, t), noise)


def swiss_roll(n):
    t = 1.5 * 3.1416 * (1 + 2 * torch.rand(n))
    return torch.stack([t * t.cos(), t * t.sin()], 1) / 9 + 0.02 * torch.randn(n, 2)


torch.manual_seed(4)
loader = DataLoader(TensorDataset(swiss_roll(768)), batch_size=96, shuffle=True, drop_last=True)
ddpm = DDPM().to(device)
optim = torch.optim.Adam(ddpm.parameters(), lr=2e-3)
for epoch in range(10):
    running = 0.0
    for (x0,) in loader:
        loss = ddpm.loss(x0.to(device))
        optim.zero_grad()
        loss.backward()
        optim.step()
        running += loss.item()
    print(f"epoch {epoch:02d}  eps-mse {running / len(loader):.6f}")
