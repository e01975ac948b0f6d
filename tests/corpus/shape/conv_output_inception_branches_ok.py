import torch
import torch.nn as nn
from sklearn.datasets import load_digits

torch.manual_seed(42)


class Inception(nn.Module):
    def __init__(self, cin, c1, c3, c5):
        super().__init__()
        self.b1 = nn.Sequential(nn.Conv2d(cin, c1, 1), nn.ReLU())
        self.b3 = nn.Sequential(nn.Conv2d(cin, c3, 3, padding=1), nn.ReLU())
        self.b5 = nn.Sequential(nn.Conv2d(cin, c5, 5, padding=2), nn.ReLU())

    def forward(self, x):
        return torch.cat([self.b1(x), self.b3(x), self.b5(x)], 1)


class TinyGoogLeNet(nn.Module):
    def __init__(self, n_classes=10):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU())
        self.block1 = Inception(8, 4, 8, 4)
        self.pool = nn.MaxPool2d(2)
        self.block2 = Inception(16, 8, 16, 8)
        self.gap = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(32, n_classes)

    def forward(self, x):
        x = self.stem(x)
        x = self.pool(self.block1(x))
        x = self.gap(self.block2(x))
        return self.fc(torch.flatten(x, 1))


def batches(x, y, size):
    order = torch.randperm(len(x))
    for k in range(0, len(x), size):
        sel = order[k:k + size]
        yield x[sel], y[sel]


bunch = load_digits()
x = torch.from_numpy(bunch.images[:600]).float()[:, None] / 16
y = torch.from_numpy(bunch.target[:600]).long()

net = TinyGoogLeNet()
optim = torch.optim.Adam(net.parameters(), 4e-3)
xent = nn.CrossEntropyLoss()
for ep in range(5):
    s = n = 0
    for xb, yb in batches(x, y, 50):
        optim.zero_grad()
        l = xent(net(xb), yb)
        l.backward()
        optim.step()
        s += l.item() * len(xb); n += len(xb)
    print(ep, "%.6f" % (s / n))
