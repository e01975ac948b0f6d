import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


class TiedAE(nn.Module):
    """The decoder uses the transposed encoder weights."""

    def __init__(self, d=64, h=32, z=12):
        super().__init__()
        self.enc1 = nn.Linear(d, h)
        self.enc2 = nn.Linear(h, z)
        self.dec_bias2 = nn.Parameter(torch.zeros(h))
        self.dec_bias1 = nn.Parameter(torch.zeros(d))

    def forward(self, x):
        z = self.enc2(torch.tanh(self.enc1(x)))
        h = torch.tanh(F.linear(z, self.enc2.weight.t(), self.dec_bias2))
        return F.linear(h, self.enc1.weight.t(), self.dec_bias1)


torch.manual_seed(10)
X = torch.tensor(load_digits().data / 16.0, dtype=torch.float32)
X = X[torch.randperm(len(X))]
train, test = X[:1400], X[1400:]
mean = train.mean(0)
train, test = train - mean, test - mean

model = TiedAE()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(25):
    model.train()
    total = 0.0
    for batch in train[torch.randperm(len(train))].split(50):
        recon = model(batch)
        loss = F.mse_loss(recon, batch) + 1e-5 * model.enc1.weight.abs().sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(batch)
    if epoch % 5 == 4:
        model.eval()
        with torch.no_grad():
            err = F.mse_loss(model(test), test).item()
        print(f"epoch {epoch + 1} train objective {total / len(train):.5f} test mse {err:.5f}")
print("parameters", sum(p.numel() for p in model.parameters()))
