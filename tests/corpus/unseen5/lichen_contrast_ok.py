"""Contrastive pretraining of lichen spectra under lighting and sensor changes."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(27)
DIM, NUISANCE = 16, 16
MIX = torch.linalg.qr(torch.randn(DIM + NUISANCE, DIM + NUISANCE))[0]


def spectra(n, centers):
    y = torch.randint(0, len(centers), (n,))
    clean = centers[y] + 0.4 * torch.randn(n, DIM)
    return clean, y


def augment(clean):
    """Sensor response: unknown illumination of large variance mixed with the signal."""
    light = 4.0 * torch.randn(len(clean), NUISANCE)
    return torch.cat([clean, light], 1) @ MIX


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(DIM + NUISANCE, 24)
        self.proj = nn.Sequential(nn.ReLU(), nn.Linear(24, 16))

    def forward(self, x):
        return F.normalize(self.proj(self.body(x)), dim=1)


def info_nce(z1, z2, tau=0.2):
    logits = z1 @ z2.t() / tau
    target = torch.arange(len(z1))
    return (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target)) / 2


def knn_accuracy(encoder, bank, bank_y, query, query_y):
    with torch.no_grad():
        b, q = encoder(bank), encoder(query)
    return (bank_y[(q @ b.t()).argmax(1)] == query_y).float().mean().item()


centers = torch.randn(8, DIM) * 1.2
encoder = Encoder()
opt = torch.optim.Adam(encoder.parameters(), lr=3e-3)
for step in range(400):
    clean, _ = spectra(96, centers)
    z1, z2 = encoder(augment(clean)), encoder(augment(clean))
    loss = info_nce(z1, z2)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 100 == 0:
        print(f"step {step} loss {loss.item():.4f}")
bank, bank_y = spectra(400, centers)
query, query_y = spectra(200, centers)
print("kNN accuracy", knn_accuracy(encoder, augment(bank), bank_y, augment(query), query_y))
