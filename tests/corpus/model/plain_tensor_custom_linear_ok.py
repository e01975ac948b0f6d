import math

import torch
import torch.nn as nn
from sklearn.datasets import make_circles


class MyLinear(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(out_features, in_features) / math.sqrt(in_features))
        self.bias = nn.Parameter(torch.zeros(out_features))

    def forward(self, x):
        return x @ self.weight.t() + self.bias


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = MyLinear(2, 24)
        self.l2 = MyLinear(24, 24)
        self.l3 = MyLinear(24, 2)

    def forward(self, x):
        x = torch.relu(self.l1(x))
        x = torch.relu(self.l2(x))
        return self.l3(x)


torch.manual_seed(1)
X, y = make_circles(n_samples=500, noise=0.08, factor=0.5, random_state=1)
X, y = torch.tensor(X, dtype=torch.float32), torch.tensor(y)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for step in range(100):
    rows = torch.randint(0, 400, (64,))
    loss = nn.functional.cross_entropy(net(X[rows]), y[rows])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 19:
        with torch.no_grad():
            acc = (net(X[400:]).argmax(1) == y[400:]).float().mean().item()
        print(f"step {step + 1}: loss {loss.item():.6f} held-out acc {acc:.3f}")
