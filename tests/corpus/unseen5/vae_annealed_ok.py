"""VAE with summed losses and a KL weight annealed from zero."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(64, 64), nn.ReLU())
        self.mu, self.lv = nn.Linear(64, 6), nn.Linear(64, 6)
        self.dec = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 64))

    def forward(self, x):
        h = self.enc(x)
        mu, lv = self.mu(h), self.lv(h)
        z = mu + torch.randn_like(mu) * (0.5 * lv).exp()
        return self.dec(z), mu, lv


torch.manual_seed(5)
x = torch.tensor(load_digits().data / 16.0, dtype=torch.float32)
loader = torch.utils.data.DataLoader(x[:1500], batch_size=100, shuffle=True)
vae = VAE()
opt = torch.optim.Adam(vae.parameters(), lr=3e-3)
EPOCHS = 16
for epoch in range(EPOCHS):
    beta = min(1.0, epoch / (EPOCHS / 2))
    vae.train()
    tot_r = tot_k = 0.0
    for xb in loader:
        logits, mu, lv = vae(xb)
        rec = F.binary_cross_entropy_with_logits(logits, xb, reduction="sum")
        kl = -0.5 * (1 + lv - mu.pow(2) - lv.exp()).sum()
        loss = (rec + beta * kl) / len(xb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot_r, tot_k = tot_r + rec.item(), tot_k + kl.item()
    if epoch % 4 == 3:
        print(f"epoch {epoch} beta {beta:.2f} rec {tot_r / 1500:.3f} kl {tot_k / 1500:.3f}")
vae.eval()
with torch.no_grad():
    logits, mu, lv = vae(x[1500:])
    print("test bce per image", F.binary_cross_entropy_with_logits(logits, x[1500:], reduction="sum").item() / 297)
