import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
data = torch.tensor(load_digits().data, dtype=torch.float32, device=device) / 16


class VAE(nn.Module):
    def __init__(self, latent=6):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(64, 64), nn.ReLU())
        self.mu, self.logvar = nn.Linear(64, latent), nn.Linear(64, latent)
        self.dec = nn.Sequential(nn.Linear(latent, 64), nn.ReLU(), nn.Linear(64, 64))

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.exp(0.5 * logvar) * torch.randn_like(mu)
        return self.dec(z), mu, logvar


def elbo(logits, x, mu, logvar):
    rec = F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(1)
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1)
    return (rec + kl).mean()


vae = VAE().to(device)
opt = torch.optim.Adam(vae.parameters(), lr=3e-3)
scaler = torch.amp.GradScaler(device.type, init_scale=1024.0)
for epoch in range(4):
    for rows in torch.randperm(len(data), device=device).split(120):
        x = data[rows]
        opt.zero_grad()
        with torch.autocast(device.type, dtype=torch.bfloat16):
            logits, mu, logvar = vae(x)
        loss = elbo(logits.float(), x, mu.float(), logvar.float())
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
    print(f"epoch {epoch} -elbo {loss.item():.4f}")
