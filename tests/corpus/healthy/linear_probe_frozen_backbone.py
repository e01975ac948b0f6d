import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

torch.manual_seed(0)
X, y = load_digits(return_X_y=True)
Xtr, Xte, ytr, yte = train_test_split(X / 16.0, y, test_size=0.3, random_state=0)
Xtr, Xte = torch.tensor(Xtr).float(), torch.tensor(Xte).float()
ytr, yte = torch.tensor(ytr), torch.tensor(yte)

# unsupervised stage
encoder = nn.Sequential(nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 24), nn.ReLU())
decoder = nn.Linear(24, 64)
opt = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=5e-3)
for epoch in range(3):
    for idx in torch.randperm(len(Xtr)).split(64):
        loss = F.mse_loss(decoder(encoder(Xtr[idx])), Xtr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"autoencoder {epoch}: {loss.item():.6f}")

# probe: the encoder stays as it is
encoder.eval()
encoder.requires_grad_(False)
probe = nn.Linear(24, 10)
opt = torch.optim.Adam(probe.parameters(), lr=2e-2)
for epoch in range(4):
    for idx in torch.randperm(len(Xtr)).split(64):
        loss = F.cross_entropy(probe(encoder(Xtr[idx])), ytr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        acc = (probe(encoder(Xte)).argmax(1) == yte).float().mean()
    print(f"probe {epoch}: {loss.item():.5f} acc {acc.item():.4f}")
