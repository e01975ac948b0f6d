import torch
import torch.nn as nn
from sklearn.datasets import load_digits

torch.manual_seed(0)


class GaussianNoise(nn.Module):
    def __init__(self, sigma):
        super().__init__()
        self.sigma = sigma

    def forward(self, x):
        if self.training and self.sigma > 0:
            return x + torch.randn_like(x) * self.sigma * x.detach().abs()
        return x


class DAE(nn.Module):
    def __init__(self, code=16):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(64, 64), GaussianNoise(0.1), nn.ReLU(), nn.Linear(64, code))
        self.dec_bias = nn.Parameter(torch.zeros(64))
        self.mid_bias = nn.Parameter(torch.zeros(64))

    def forward(self, x):
        z = self.enc(x)
        h = torch.relu(z @ self.enc[3].weight + self.mid_bias)
        return torch.sigmoid(h @ self.enc[0].weight + self.dec_bias)


def corrupt(x, p=0.25):
    return x * (torch.rand_like(x) > p)


X = torch.tensor(load_digits().data / 16.0, dtype=torch.float32)
train, test = X[:1500], X[1500:]
torch.manual_seed(1)
test_bad = corrupt(test)
model = DAE()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
step = 0
for epoch in range(12):
    model.train()
    for idx in torch.randperm(1500).split(60):
        clean = train[idx]
        loss = nn.functional.mse_loss(model(corrupt(clean)), clean)
        opt.zero_grad()
        loss.backward()
        std = (0.01 / (1 + step) ** 0.55)
        for p in model.parameters():
            p.grad.add_(torch.randn_like(p.grad), alpha=std * 1e-2)
        opt.step()
        step += 1
    model.eval()
    with torch.no_grad():
        err = nn.functional.mse_loss(model(test_bad), test).item()
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1} train {loss.item():.4f} test {err:.4f} corrupted {(test_bad - test).pow(2).mean().item():.4f}")
