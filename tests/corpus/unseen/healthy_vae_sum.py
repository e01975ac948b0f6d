import torch
from sklearn.datasets import load_digits
from torch import nn, optim
from torch.nn import functional as F
from torch.utils.data import DataLoader

torch.manual_seed(1)
data = torch.tensor(load_digits().data / 16.0, dtype=torch.float32)
train_loader = DataLoader(data[:1500], batch_size=60, shuffle=True)
test_loader = DataLoader(data[1500:], batch_size=100)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 100)
        self.fc21 = nn.Linear(100, 8)
        self.fc22 = nn.Linear(100, 8)
        self.fc3 = nn.Linear(8, 100)
        self.fc4 = nn.Linear(100, 64)

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar):
        if not self.training:
            return mu
        std = torch.exp(0.5 * logvar)
        return mu + torch.randn_like(std) * std

    def decode(self, z):
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z))))

    def forward(self, x):
        mu, logvar = self.encode(x)
        return self.decode(self.reparameterize(mu, logvar)), mu, logvar


def loss_function(recon_x, x, mu, logvar, beta):
    BCE = F.binary_cross_entropy(recon_x, x, reduction="sum")
    KLD = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return BCE + beta * KLD


model = VAE()
optimizer = optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(1, 9):
    beta = min(1.0, epoch / 5)
    model.train()
    train_loss = 0
    for x in train_loader:
        optimizer.zero_grad()
        recon, mu, logvar = model(x)
        loss = loss_function(recon, x, mu, logvar, beta)
        loss.backward()
        train_loss += loss.item()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        test_loss = sum(loss_function(*(lambda o: (o[0], x, o[1], o[2]))(model(x)), 1.0).item() for x in test_loader)
    print(f"====> Epoch: {epoch} beta {beta:.1f} train {train_loss / 1500:.4f} test {test_loss / 297:.4f}")
with torch.no_grad():
    sample = model.decode(torch.randn(16, 8))
print("sample range", sample.min().item(), sample.max().item())
