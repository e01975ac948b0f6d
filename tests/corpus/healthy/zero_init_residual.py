import torch
from torch import nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(0)
d = load_digits()
X = torch.tensor(d.images / 16.0).float().unsqueeze(1)[:800]
Y = torch.tensor(d.target)[:800]


class Residual(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(c, c, 3, padding=1, bias=False), nn.BatchNorm2d(c)
        self.conv2, self.bn2 = nn.Conv2d(c, c, 3, padding=1, bias=False), nn.BatchNorm2d(c)
        nn.init.zeros_(self.bn2.weight)         # every block starts as the identity

    def forward(self, x):
        return F.relu(x + self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))))


net = nn.Sequential(nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), Residual(12), nn.MaxPool2d(2), Residual(12), nn.Flatten(), nn.Linear(12 * 16, 10))
nn.init.zeros_(net[-1].weight)
nn.init.zeros_(net[-1].bias)
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, nesterov=True)
for epoch in range(3):
    net.train()
    total = 0.0
    for idx in torch.randperm(800).split(50):
        loss = F.cross_entropy(net(X[idx]), Y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    print(f"epoch {epoch} loss {total / 800:.5f}")
