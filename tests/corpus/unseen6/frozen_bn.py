import torch
from torch import nn

torch.manual_seed(0)
backbone = nn.Sequential(nn.Conv2d(1, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten())
pre = nn.Sequential(backbone, nn.Linear(64, 4))


def data(n, k, gain, shift):
    y = torch.randint(0, k, (n,))
    x = 0.3 * torch.randn(n, 1, 12, 12)
    for i, c in enumerate(y.tolist()):
        x[i, 0, (c // 2) * 6 : (c // 2) * 6 + 6, (c % 2) * 6 : (c % 2) * 6 + 6] += 1
    return x * gain + shift, y


x, y = data(400, 4, 1.0, 0.0)
opt = torch.optim.Adam(pre.parameters(), 2e-3)
for epoch in range(3):
    for i in torch.randperm(400).split(40):
        opt.zero_grad()
        nn.functional.cross_entropy(pre(x[i]), y[i]).backward()
        opt.step()

for p in backbone.parameters():
    p.requires_grad = False
model = nn.Sequential(backbone, nn.Linear(64, 2))
opt = torch.optim.Adam(model[1].parameters(), 5e-3)
x, y = data(300, 2, 3.0, 1.0)
for epoch in range(5):
    model.train()
    for i in torch.randperm(250).split(25):
        loss = nn.functional.cross_entropy(model(x[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        acc = (model(x[250:]).argmax(1) == y[250:]).float().mean().item()
    print(epoch, loss.item(), acc)
