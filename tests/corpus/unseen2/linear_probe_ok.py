import torch
import torch.nn as nn
from sklearn.datasets import load_digits


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 96), nn.BatchNorm1d(96), nn.ReLU(), nn.Linear(96, 24))

    def forward(self, x):
        return self.net(x)


class ProbeModel(nn.Module):
    """Frozen encoder whose normalisation statistics stay fixed, and a trainable linear probe."""

    def __init__(self, encoder, n_classes):
        super().__init__()
        self.encoder = encoder.requires_grad_(False)
        self.head = nn.Linear(24, n_classes)

    def train(self, mode=True):
        super().train(mode)
        self.encoder.eval()
        return self

    def forward(self, x):
        with torch.no_grad():
            z = self.encoder(x)
        return self.head(z)


torch.manual_seed(2)
d = load_digits()
perm = torch.randperm(len(d.target))
X = torch.tensor(d.data / 16.0, dtype=torch.float32)[perm]
y = torch.tensor(d.target)[perm]
X_tr, y_tr, X_te, y_te = X[:1300], y[:1300], X[1300:], y[1300:]

# unsupervised stage: autoencoder
enc, dec = Encoder(), nn.Linear(24, 64)
opt = torch.optim.Adam(list(enc.parameters()) + list(dec.parameters()), lr=3e-3)
enc.train()
for step in range(200):
    xb = X_tr[torch.randint(0, len(X_tr), (64,))]
    loss = nn.functional.mse_loss(dec(enc(xb)), xb)
    opt.zero_grad()
    loss.backward()
    opt.step()
print("reconstruction", loss.item())

model = ProbeModel(enc, 10)
opt = torch.optim.Adam(model.head.parameters(), lr=2e-2)
for epoch in range(10):
    model.train()
    for idx in torch.randperm(len(X_tr)).split(64):
        loss = nn.functional.cross_entropy(model(X_tr[idx]), y_tr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        acc = (model(X_te).argmax(1) == y_te).float().mean().item()
    print(f"probe epoch {epoch} loss {loss.item():.4f} acc {acc:.3f}")
