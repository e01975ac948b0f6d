import random

import torch
from torch import nn

torch.manual_seed(0)
random.seed(0)
rows = [{"age": random.gauss(40, 12), "income": random.gauss(3000, 900), "score": random.random(), "y": 0.0} for _ in range(800)]
for r in rows:
    r["y"] = r["income"] / 1000 + 2 * r["score"] - r["age"] / 20


def table(rows, columns):
    return torch.tensor([[r[c] for c in columns] for r in rows]), torch.tensor([[r["y"]] for r in rows])


xt, yt = table(rows[:600], ["age", "income", "score"])
xv, yv = table(rows[600:], ["income", "age", "score"])
m, s = xt.mean(0), xt.std(0)
xt, xv = (xt - m) / s, (xv - m) / s
net = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), 1e-2)
for epoch in range(6):
    net.train()
    for i in torch.randperm(600).split(30):
        loss = nn.functional.mse_loss(net(xt[i]), yt[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        print(epoch, loss.item(), nn.functional.mse_loss(net(xv), yv).item())
