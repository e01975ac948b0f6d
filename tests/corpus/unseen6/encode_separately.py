import random

import torch
from torch import nn

random.seed(3)
torch.manual_seed(3)
cities = ["Rome", "Oslo", "Bern", "Kyiv", "Lima", "Cairo", "Delhi"]
effect = dict(zip(cities, [-2.0, -1.0, -0.3, 0.4, 1.0, 1.8, 3.0]))
rows = []
for _ in range(900):
    c, size = random.choice(cities), random.random()
    rows.append((c, size, effect[c] + size + random.gauss(0, 0.1)))


def fit_codes(rows):
    codes = {}
    for c, _, _ in rows:
        codes.setdefault(c, len(codes))
    return codes


def tensors(rows, codes):
    c = torch.tensor([codes[r[0]] for r in rows])
    return c, torch.tensor([[r[1]] for r in rows]), torch.tensor([r[2] for r in rows])


train, test = rows[:700], rows[700:]
codes = fit_codes(train)
tr = tensors(train, codes)
te = tensors(test, fit_codes(test))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(7, 4)
        self.mlp = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, c, s):
        return self.mlp(torch.cat([self.emb(c), s], 1)).squeeze(1)


net = Net()
opt = torch.optim.Adam(net.parameters(), 1e-2)
for epoch in range(10):
    net.train()
    for i in torch.randperm(700).split(50):
        loss = nn.functional.mse_loss(net(tr[0][i], tr[1][i]), tr[2][i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        print(epoch, loss.item(), "test", nn.functional.mse_loss(net(te[0], te[1]), te[2]).item())
