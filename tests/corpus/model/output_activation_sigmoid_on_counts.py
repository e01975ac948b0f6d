import argparse
import math
import torch
import torch.nn.functional as F
from torch import nn


def rentals(n, gen):
    hour, temp = torch.rand(n, generator=gen) * 24, torch.randn(n, generator=gen)
    mean = 2.0 + 2.0 * torch.exp(-((hour - 8) / 2) ** 2) + 3.0 * torch.exp(-((hour - 17) / 2) ** 2) + 0.5 * temp
    feats = torch.stack([torch.sin(hour * math.pi / 12), torch.cos(hour * math.pi / 12), temp], dim=1)
    return feats, mean.clamp(min=0) + 0.1 * torch.rand(n, generator=gen)


class Rentals(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.fc1 = nn.Linear(3, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc3 = nn.Linear(hidden, 1)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return torch.sigmoid(self.fc3(x)).squeeze(1)


ap = argparse.ArgumentParser()
ap.add_argument('--hidden', type=int, default=32)
ap.add_argument('--lr', type=float, default=5e-3)
args = ap.parse_args()

torch.manual_seed(0)
g = torch.Generator().manual_seed(0)
xtr, ytr = rentals(640, g)
xva, yva = rentals(160, g)
net = Rentals(args.hidden)
opt = torch.optim.Adam(net.parameters(), lr=args.lr)
for ep in range(8):
    tot = 0
    for b in torch.randperm(640).split(64):
        opt.zero_grad()
        loss = F.l1_loss(net(xtr[b]), ytr[b])
        loss.backward()
        opt.step()
        tot += loss.item()
    with torch.no_grad():
        v = F.l1_loss(net(xva), yva).item()
    print(f'{ep} train_mae={tot / 10:.5f} val_mae={v:.5f}')
