import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
pixels = torch.tensor(load_digits().data[:800] / 16.0, dtype=torch.float32)
train_loader = DataLoader(TensorDataset(pixels), batch_size=80, shuffle=True)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 48)
        self.to_mu = nn.Linear(48, 6)
        self.to_logvar = nn.Linear(48, 6)
        self.dec_in = nn.Linear(6, 48)
        self.dec_out = nn.Linear(48, 64)

    def encode(self, x):
        h = F.relu(self.fc1(x))
        return self.to_mu(h), self.to_logvar(h)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return mu + eps * std

    def decode(self, z):
        g = F.relu(self.dec_in(z))
        return torch.sigmoid(self.dec_out(g))

    def forward(self, x):
        mu, logvar = self.encode(x)
        z = self.reparameterize(mu, logvar)
        return self.decode(z), mu, logvar


def loss_function(recon_x, x, mu, logvar):
    bce = F.binary_cross_entropy(recon_x, x)
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return bce + kld, bce, kld


model = VAE().to(device)
optimizer = optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(1, 9):
    model.train()
    sums = [0.0, 0.0, 0.0]
    for (x,) in train_loader:
        x = x.to(device)
        optimizer.zero_grad()
        recon, mu, logvar = model(x)
        loss, bce, kld = loss_function(recon, x, mu, logvar)
        loss.backward()
        optimizer.step()
        sums = [s + t.item() for s, t in zip(sums, (loss, bce, kld))]
    if epoch % 2 == 0:
        print(f"epoch {epoch} loss {sums[0] / len(pixels):.5f} recon {sums[1] / len(pixels):.5f} kl {sums[2] / len(pixels):.5f}")
