import torch
import torch.nn as nn

torch.manual_seed(18)
w = torch.randn(10)
x = torch.randn(800, 10)
y = (x @ w > 0).long()
shift, scale = torch.randn(10) * 2, torch.rand(10) + 1.0
xt = torch.randn(600, 10)
yt = (xt @ w > 0).long()
xt = xt * scale + shift

model = nn.Sequential(nn.BatchNorm1d(10), nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
model.train()
for epoch in range(8):
    for idx in torch.randperm(len(x)).split(50):
        loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("epoch", epoch, "loss", round(loss.item(), 4))


@torch.no_grad()
def accuracy(data, labels):
    model.eval()
    return (model(data).argmax(1) == labels).float().mean().item()


print("target accuracy before adaptation", accuracy(xt[300:], yt[300:]))
for m in model.modules():
    if isinstance(m, nn.BatchNorm1d):
        m.reset_running_stats()
        m.momentum = None
        m.train()
with torch.no_grad():
    for chunk in xt[:300].split(50):
        model(chunk)
print("target accuracy after adaptation", accuracy(xt[300:], yt[300:]))
