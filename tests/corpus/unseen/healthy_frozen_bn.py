import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(0)
d = load_digits()
x = torch.tensor(d.images / 16.0, dtype=torch.float32).unsqueeze(1)
y = torch.tensor(d.target)
low, high = y < 6, y >= 6


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1, self.b1 = nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16)
        self.c2, self.b2 = nn.Conv2d(16, 24, 3, padding=1, bias=False), nn.BatchNorm2d(24)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.b1(self.c1(x))), 2)
        return F.max_pool2d(F.relu(self.b2(self.c2(x))), 2).flatten(1)


class FineTuned(nn.Module):
    def __init__(self, backbone, n_out):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Linear(96, n_out)

    def train(self, mode=True):
        super().train(mode)
        self.backbone.eval()
        return self

    def forward(self, x):
        with torch.no_grad():
            z = self.backbone(x)
        return self.head(z)


backbone = Backbone()
pre = nn.Sequential(backbone, nn.Linear(96, 6))
opt = torch.optim.Adam(pre.parameters(), lr=3e-3)
for epoch in range(3):
    pre.train()
    for idx in torch.randperm(int(low.sum())).split(54):
        loss = F.cross_entropy(pre(x[low][idx]), y[low][idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
print("pretraining loss", loss.item())

model = FineTuned(backbone, 4)
for p in model.backbone.parameters():
    p.requires_grad = False
xs, ys = x[high], y[high] - 6
opt = torch.optim.SGD(filter(lambda p: p.requires_grad, model.parameters()), lr=0.1, momentum=0.9)
n = 500
for epoch in range(5):
    model.train()
    for idx in torch.randperm(n).split(25):
        opt.zero_grad()
        loss = F.cross_entropy(model(xs[idx]), ys[idx])
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        acc = (model(xs[n:]).argmax(1) == ys[n:]).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.4f} acc {acc:.4f}")
