import math
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class NoiseSchedule:
    def __init__(self, steps):
        s = torch.arange(steps + 1) / steps
        f = torch.cos((s + 0.008) / 1.008 * math.pi / 2) ** 2
        self.steps = steps
        self.abar = (f[1:] / f[0]).clamp(1e-4, 0.9999)

    def corrupt(self, x, t):
        a = self.abar[t][:, None]
        noise = torch.randn_like(x)
        return a.sqrt() * x + (1 - a).sqrt() * noise, noise


class EpsNet(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, hidden), nn.ReLU(), nn.Linear(hidden, hidden),
                                    nn.ReLU(), nn.Linear(hidden, 2))

    def forward(self, x, t_frac):
        return self.layers(torch.cat([x, t_frac[:, None]], 1))


class DiffusionTrainer:
    def __init__(self, net, schedule, lr=2e-3):
        self.net, self.schedule = net, schedule
        self.opt = torch.optim.Adam(net.parameters(), lr=lr)

    def loss(self, x):
        t = torch.randint(0, self.schedule.steps, (len(x),))
        noisy, noise = self.schedule.corrupt(x, t)
        pred = self.net(noisy, t / self.schedule.steps)
        return ((pred - noise) ** 2).mean()

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            total = 0.0
            for (x,) in loader:
                loss = self.loss(x)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                total += loss.item()
            print(f"epoch {epoch}: eps-mse {total / len(loader):.4f}")


if __name__ == "__main__":
    torch.manual_seed(17)
    theta = torch.rand(2000).sqrt() * 3 * math.pi
    spiral = torch.stack([theta * theta.cos(), theta * theta.sin()], 1) / 6
    loader = DataLoader(TensorDataset(spiral), batch_size=100, shuffle=True)
    trainer = DiffusionTrainer(EpsNet(), NoiseSchedule(50))
    trainer.fit(loader, 10)
