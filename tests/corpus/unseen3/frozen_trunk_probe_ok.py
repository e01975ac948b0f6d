import torch
from torch import nn
from sklearn.datasets import load_digits

torch.manual_seed(0)
d = load_digits()
X, y = torch.tensor(d.data / 16.0, dtype=torch.float32), torch.tensor(d.target)


class Net(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(64, 96), nn.BatchNorm1d(96), nn.ReLU())
        self.head = nn.Linear(96, n_out)

    def forward(self, x):
        return self.head(self.trunk(x))

    def train(self, mode=True):
        super().train(mode)
        if not any(p.requires_grad for p in self.trunk.parameters()):
            self.trunk.eval()
        return self


def fit(net, X, y, epochs):
    opt = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=3e-3)
    for epoch in range(epochs):
        net.train()
        total = 0.0
        for idx in torch.randperm(len(X)).split(64):
            opt.zero_grad()
            loss = nn.functional.cross_entropy(net(X[idx]), y[idx])
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        print(f"epoch {epoch} loss {total / len(X):.4f}")


net = Net(10)
fit(net, X[:1200], y[:1200], 4)
net.trunk.requires_grad_(False)
net.head = nn.Linear(96, 2)
fit(net, X[:1200], (y[:1200] >= 5).long(), 6)
net.eval()
with torch.no_grad():
    print("accuracy", (net(X[1200:]).argmax(1) == (y[1200:] >= 5)).float().mean().item())
