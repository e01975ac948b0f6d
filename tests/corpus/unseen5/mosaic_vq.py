"""VQ-VAE on digit mosaics."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


class VectorQuantizer(nn.Module):
    def __init__(self, n_codes, dim, beta=0.25):
        super().__init__()
        self.codebook = nn.Embedding(n_codes, dim)
        nn.init.normal_(self.codebook.weight, std=0.5)
        self.beta = beta

    def lookup(self, z):
        return torch.cdist(z.reshape(-1, z.size(-1)), self.codebook.weight).argmin(1).view(z.shape[:-1])

    def forward(self, z):
        idx = self.lookup(z)
        z_q = self.codebook(idx)
        loss = F.mse_loss(z_q, z.detach()) + self.beta * F.mse_loss(z, z_q.detach())
        z_q = z_q + (z - z_q).detach()
        return z_q, loss, idx


class VQVAE(nn.Module):
    def __init__(self, slots=8, dim=4, n_codes=24):
        super().__init__()
        self.slots, self.dim = slots, dim
        self.enc = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, slots * dim))
        self.vq = VectorQuantizer(n_codes, dim)
        self.dec = nn.Sequential(nn.Linear(slots * dim, 96), nn.ReLU(), nn.Linear(96, 64), nn.Sigmoid())

    def forward(self, x):
        z = self.enc(x).view(-1, self.slots, self.dim)
        z_q, vq_loss, idx = self.vq(z)
        return self.dec(z_q.flatten(1)), vq_loss, idx

    @torch.no_grad()
    def decode_codes(self, idx):
        return self.dec(self.vq.codebook(idx).flatten(1))


def main():
    torch.manual_seed(16)
    x = torch.tensor(load_digits().data / 16.0, dtype=torch.float32)
    train, test = x[:1400], x[1400:]
    model = VQVAE()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(20):
        for idx in torch.randperm(len(train)).split(100):
            recon, vq_loss, _ = model(train[idx])
            rec = F.mse_loss(recon, train[idx])
            loss = rec + vq_loss
            opt.zero_grad()
            loss.backward()
            opt.step()
        if epoch % 5 == 0:
            print(f"epoch {epoch} rec {rec.item():.4f} vq {vq_loss.item():.4f}")
    with torch.no_grad():
        _, _, codes = model(test)
    print("mse when decoding stored codes", round(F.mse_loss(model.decode_codes(codes), test).item(), 5),
          "codes used", codes.unique().numel())


if __name__ == "__main__":
    main()
