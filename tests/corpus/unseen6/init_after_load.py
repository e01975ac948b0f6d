import tempfile

import torch
from torch import nn

torch.manual_seed(0)


def build(k):
    return nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, k))


def init(m):
    if isinstance(m, nn.Linear):
        nn.init.xavier_uniform_(m.weight)
        nn.init.zeros_(m.bias)


def fit(net, x, y, epochs):
    opt = torch.optim.Adam(net.parameters(), 2e-3)
    for epoch in range(epochs):
        for i in torch.randperm(len(x)).split(40):
            loss = nn.functional.cross_entropy(net(x[i]), y[i])
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(epoch, loss.item())


x = torch.randn(800, 12)
pre = build(4)
fit(pre, x, (x[:, 0] > 0).long() + 2 * (x[:, 1] > 0).long(), 4)
file = tempfile.mktemp(suffix=".pt")
torch.save(pre.state_dict(), file)
net = build(4)
net.load_state_dict(torch.load(file))
net.apply(init)
net[4] = nn.Linear(32, 2)
fit(net, x[:100], (x[:100, 0] * x[:100, 1] > 0).long(), 4)
