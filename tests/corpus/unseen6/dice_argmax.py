import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


def dice(pred, y, eps=1.0):
    inter = (pred * y).sum((1, 2))
    return 1 - ((2 * inter + eps) / (pred.sum((1, 2)) + y.sum((1, 2)) + eps)).mean()


y = torch.zeros(200, 16, 16)
for i in range(200):
    a, b = torch.randint(0, 12, (2,))
    y[i, a : a + 4, b : b + 4] = 1
x = (y * 0.8 + 0.5 * torch.randn_like(y)).unsqueeze(1)
net = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 2, 3, padding=1))
opt = torch.optim.Adam(net.parameters(), 3e-3)
for epoch in range(5):
    for i in torch.randperm(200).split(20):
        logits = net(x[i])
        d = dice(logits.argmax(1).float(), y[i])
        loss = 0.5 * F.cross_entropy(logits, y[i].long()) + d
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item(), d.item())
