import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)


class Noisy(Dataset):
    def __init__(self, n=240):
        self.x = torch.randn(n, 8)
        self.y = (self.x.sum(1) > 0).long()

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        noise = torch.from_numpy(np.random.RandomState(42).normal(0, 0.3, 8).astype("float32"))
        return self.x[i] + noise, self.y[i]


net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.Adam(net.parameters(), 3e-3)
dl = DataLoader(Noisy(), 24, shuffle=True)
for epoch in range(4):
    for a, b in dl:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(a), b)
        loss.backward()
        opt.step()
    print(epoch, loss.item())
