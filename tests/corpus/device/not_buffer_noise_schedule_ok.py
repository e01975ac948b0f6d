import copy
import math
import torch
import torch.nn as nn

device = "cuda" if torch.cuda.is_available() else "cpu"


class CosineDiffusion(nn.Module):
    def __init__(self, net, T=50):
        super().__init__()
        self.net = net
        self.T = T
        s = torch.linspace(0, 1, T + 1)[1:]
        abar = torch.cos((s * 0.98 + 0.008) / 1.008 * math.pi / 2) ** 2
        self.register_buffer("sqrt_abar", abar.sqrt())
        self.register_buffer("sqrt_one_minus", (1 - abar).sqrt())

    def forward(self, x):
        t = torch.randint(0, self.T, (x.size(0),), device=x.device)
        noise = torch.randn_like(x)
        noisy = self.sqrt_abar[t, None] * x + self.sqrt_one_minus[t, None] * noise
        pred = self.net(torch.cat([noisy, (t.float() / self.T).unsqueeze(1)], 1))
        return ((pred - noise) ** 2).mean()


@torch.no_grad()
def ema_update(ema, model, decay=0.95):
    for e, p in zip(ema.parameters(), model.parameters()):
        e.lerp_(p, 1 - decay)


def main():
    torch.manual_seed(12)
    corners = torch.tensor([[1.0, 1], [1, -1], [-1, 1], [-1, -1]])
    data = corners[torch.randint(0, 4, (800,))] + 0.1 * torch.randn(800, 2)
    net = nn.Sequential(nn.Linear(3, 48), nn.SiLU(), nn.Linear(48, 48), nn.SiLU(), nn.Linear(48, 2))
    model = CosineDiffusion(net).to(device)
    ema = copy.deepcopy(model).requires_grad_(False)
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    window = []
    for step in range(1, 101):
        batch = data[torch.randint(0, len(data), (80,))].to(device)
        loss = model(batch)
        opt.zero_grad()
        loss.backward()
        opt.step()
        ema_update(ema, model)
        window.append(loss.item())
        if step % 20 == 0:
            print(f"step {step} loss {sum(window[-20:]) / 20:.6f}")
    with torch.no_grad():
        print(f"ema loss {ema(data.to(device)).item():.6f}")


main()
