import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Spectra(Dataset):
    """Absorption spectra with the concentration behind them; jitter and masking while training."""

    def __init__(self, n, seed, train):
        rng = np.random.RandomState(seed)
        grid = np.linspace(-1, 1, 40)
        self.conc = rng.uniform(0.2, 1.0, size=n).astype(np.float32)
        width = rng.uniform(0.1, 0.3, size=n)
        self.spectra = (self.conc[:, None] * np.exp(-(grid[None] / width[:, None]) ** 2)).astype(np.float32)
        self.train, self.rng = train, rng

    def __len__(self):
        return len(self.conc)

    def __getitem__(self, i):
        spectrum = self.spectra[i]
        if self.train:
            lo = self.rng.randint(0, 36)
            spectrum[lo:lo + 4] = 0.0
            spectrum += self.rng.normal(0, 0.02, size=40).astype(np.float32)
        return spectrum, self.conc[i]


torch.manual_seed(2)
train = DataLoader(Spectra(300, 0, train=True), batch_size=30, shuffle=True)
test = DataLoader(Spectra(100, 1, train=False), batch_size=100)
net = nn.Sequential(nn.Linear(40, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)

for epoch in range(10):
    net.train()
    running = []
    for s, c in train:
        opt.zero_grad()
        loss = ((net(s).squeeze(1) - c) ** 2).mean()
        loss.backward()
        opt.step()
        running.append(loss.item())
    net.eval()
    with torch.no_grad():
        (s, c), = test
        err = (net(s).squeeze(1) - c).abs().mean().item()
    print("epoch %2d  loss %.6f  test abs err %.5f" % (epoch, np.mean(running), err))
