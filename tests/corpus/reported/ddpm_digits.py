import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader


class Diffusion(nn.Module):
    def __init__(self, steps=100, width=128):
        super().__init__()
        betas = torch.linspace(1e-3, 0.08, steps)
        self.register_buffer("alpha_bar", torch.cumprod(1 - betas, dim=0))
        self.steps = steps
        self.time = nn.Sequential(nn.Linear(1, 32), nn.SiLU(), nn.Linear(32, 32))
        self.net = nn.Sequential(nn.Linear(64 + 32, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 64))

    def corrupt(self, x, t):
        a = self.alpha_bar[t].unsqueeze(1)
        noise = torch.randn_like(x)
        return a.sqrt() * x + (1 - a).sqrt() * noise, noise

    def forward(self, noisy, t):
        h = self.time(t.unsqueeze(1).float() / self.steps)
        return self.net(torch.cat([noisy, h], dim=1))

    def loss(self, x):
        t = torch.randint(0, self.steps, (len(x),))
        noisy, noise = self.corrupt(x, t)
        return F.mse_loss(self(noisy, t), torch.randn_like(x))


def main():
    torch.manual_seed(0)
    x = torch.tensor(load_digits().data, dtype=torch.float32) / 8 - 1
    train, held_out = x[:1500], x[1500:]
    model = Diffusion()
    loader = DataLoader(train, batch_size=100, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for epoch in range(1, 16):
        model.train()
        total = 0.0
        for batch in loader:
            loss = model.loss(batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        if epoch % 5 == 0:
            print(f"epoch {epoch} loss {total / len(loader):.4f}")
    model.eval()
    with torch.no_grad():
        t = torch.full((len(held_out),), 30)
        noisy, noise = model.corrupt(held_out, t)
        a = model.alpha_bar[30]
        restored = (noisy - (1 - a).sqrt() * model(noisy, t)) / a.sqrt()
    print(f"error of noisy digits {F.mse_loss(noisy, held_out).item():.3f}, restored {F.mse_loss(restored, held_out).item():.3f}")


if __name__ == "__main__":
    main()
