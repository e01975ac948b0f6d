import torch
import torch.nn as nn
from sklearn.datasets import make_moons

torch.manual_seed(0)
T = 40
beta = torch.linspace(1e-3, 0.15, T)
alpha_bar = (1 - beta).cumprod(0)


class Denoiser(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(3, hidden), nn.SiLU(),
            nn.Linear(hidden, hidden), nn.SiLU(),
            nn.Linear(hidden, 2),
        )

    def forward(self, x, t):
        when = (t / T).unsqueeze(1).float()
        return self.net(torch.cat([x, when], dim=1))


def diffusion_loss(model, x0):
    t = torch.randint(0, T, (len(x0),), device=x0.device)
    eps = torch.randn_like(x0)
    scale = alpha_bar.to(x0.device)[t].unsqueeze(1)
    xt = scale.sqrt() * x0 + (1 - scale).sqrt() * eps
    return (model(xt, t) - eps).square().mean()


class EMA:
    def __init__(self, model, decay=0.95):
        self.decay = decay
        self.shadow = {k: v.detach().clone() for k, v in model.state_dict().items()}

    @torch.no_grad()
    def update(self, model):
        for k, v in model.state_dict().items():
            self.shadow[k].mul_(self.decay).add_(v, alpha=1 - self.decay)


points = torch.tensor(make_moons(800, noise=0.05, random_state=0)[0], dtype=torch.float32)
model = Denoiser()
ema = EMA(model)
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
history = []
for step in range(100):
    batch = points[torch.randint(0, 800, (128,))]
    loss = diffusion_loss(model, batch)
    opt.zero_grad()
    loss.backward()
    opt.step()
    ema.update(model)
    history.append(loss.item())
    if step % 20 == 19:
        print(f"step {step + 1} loss {sum(history[-20:]) / 20:.5f}")
torch.save(ema.shadow, "denoiser_ema.pt")
