import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(0)


def binarize(x):
    hard = (x > 0).float() * 2 - 1
    soft = torch.tanh(x)
    return hard.detach() - soft.detach() + soft


class BinaryBottleneck(nn.Module):
    def __init__(self, bits=24):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, bits))
        self.dec = nn.Sequential(nn.Linear(bits, 64), nn.ReLU(), nn.Linear(64, 64))

    def forward(self, x):
        return self.dec(binarize(self.enc(x)))


X = torch.tensor(load_digits().data / 16.0, dtype=torch.float32)
net = BinaryBottleneck()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(5):
    total = 0.0
    for idx in torch.randperm(len(X)).split(100):
        loss = F.mse_loss(net(X[idx]), X[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    print(f"epoch {epoch} reconstruction {total / len(X):.6f}")
