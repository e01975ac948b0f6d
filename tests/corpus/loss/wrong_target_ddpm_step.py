import math
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import make_swiss_roll

torch.manual_seed(0)
T = 50
betas = torch.linspace(1e-4, 0.1, T)
alpha_bar = torch.cumprod(1 - betas, dim=0)


def swiss_roll(n):
    pts, _ = make_swiss_roll(n, noise=0.3, random_state=0)
    return torch.tensor(pts[:, [0, 2]] / 10, dtype=torch.float32)


def time_features(t, dim=16):
    freq = torch.exp(-math.log(1000.0) * torch.arange(dim // 2, device=t.device) / (dim // 2))
    ang = t.float()[:, None] * freq
    return torch.cat([ang.sin(), ang.cos()], dim=1)


class EpsModel(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.inp = nn.Linear(2 + 16, width)
        self.hid = nn.Linear(width, width)
        self.out = nn.Linear(width, 2)

    def forward(self, x, t):
        h = F.silu(self.inp(torch.cat([x, time_features(t)], dim=1)))
        h = F.silu(self.hid(h))
        return self.out(h)


def q_sample(x0, t, noise):
    a = alpha_bar[t].unsqueeze(1)
    return a.sqrt() * x0 + (1 - a).sqrt() * noise


data = swiss_roll(1000)
model = EpsModel()
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
for it in range(1, 101):
    x0 = data[torch.randint(0, len(data), (128,))]
    t = torch.randint(0, T, (128,))
    noise = torch.randn_like(x0)
    x_t = q_sample(x0, t, noise)
    noise_pred = model(x_t, t)
    loss = F.mse_loss(noise_pred, x_t)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 20 == 0:
        print(f"iter {it}: loss {loss.item():.6f}")

with torch.no_grad():
    x = torch.randn(200, 2)
    for i in reversed(range(T)):
        eps = model(x, torch.full((200,), i))
        x = (x - betas[i] / (1 - alpha_bar[i]).sqrt() * eps) / (1 - betas[i]).sqrt()
        if i > 0:
            x = x + betas[i].sqrt() * torch.randn_like(x)
print("sample std", [round(s, 4) for s in x.std(0).tolist()], "data std", [round(s, 4) for s in data.std(0).tolist()])
