import torch
from torch import nn

torch.manual_seed(0)
centers = torch.randn(12, 16)
y = torch.randint(0, 12, (1000,))
x = centers[y] + 0.5 * torch.randn(1000, 16)
net = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 8))
opt = torch.optim.Adam(net.parameters(), 1e-3)
crit = nn.TripletMarginLoss(margin=0.5)


def triplets(n):
    a = torch.randint(0, 1000, (n,))
    same = [torch.nonzero(y == c).flatten() for c in range(12)]
    diff = [torch.nonzero(y != c).flatten() for c in range(12)]
    pos = torch.stack([same[y[i]][torch.randint(len(same[y[i]]), ())] for i in a])
    neg = torch.stack([diff[y[i]][torch.randint(len(diff[y[i]]), ())] for i in a])
    return x[a], x[pos], x[neg]


for step in range(120):
    anchor, pos, neg = triplets(48)
    loss = crit(net(anchor), net(neg), net(pos))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 30 == 0:
        print(step, loss.item())
with torch.no_grad():
    z = net(x)
    d = torch.cdist(z, z) + 1e6 * torch.eye(1000)
    print("recall@1", (y[d.argmin(1)] == y).float().mean().item())
