import random
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split
from copy import copy

torch.manual_seed(0)


class Shapes(Dataset):
    def __init__(self, n, transform=None):
        self.y = torch.randint(0, 3, (n,))
        self.x = torch.rand(n, 1, 12, 12) * 0.3
        for i, y in enumerate(self.y):
            self.x[i, 0, 2 + 3 * y : 5 + 3 * y, 3:9] += 0.7
        self.transform = transform

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        x = self.x[i]
        return (self.transform(x) if self.transform else x), self.y[i]


def augment(x):
    if random.random() < 0.5:
        x = x.flip(-1)
    return (x + 0.1 * torch.randn_like(x) - 0.3) / 0.3


def plain(x):
    return (x - 0.3) / 0.3


data = Shapes(600)
train_set, val_set = random_split(data, [480, 120])
val_set.dataset = copy(data)
train_set.dataset.transform = augment
val_set.dataset.transform = plain
train_dl = DataLoader(train_set, batch_size=32, shuffle=True)
val_dl = DataLoader(val_set, batch_size=64)
net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(800, 3))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(5):
    net.train()
    for x, y in train_dl:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        ok = sum((net(x).argmax(1) == y).sum().item() for x, y in val_dl)
    print(epoch, loss.item(), ok / len(val_set))
