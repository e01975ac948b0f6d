import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(400, 12)
y = (x[:, 0] + 0.5 * torch.randn(400) > 0).long()
folds = torch.randperm(400).chunk(5)
scores = []
net = nn.Sequential(nn.Linear(12, 128), nn.ReLU(), nn.Linear(128, 2))
opt = torch.optim.Adam(net.parameters(), 5e-3)
for k in range(5):
    val = folds[k]
    train = torch.cat([f for j, f in enumerate(folds) if j != k])
    net.train()
    for epoch in range(10):
        for i in train[torch.randperm(len(train))].split(32):
            opt.zero_grad()
            nn.functional.cross_entropy(net(x[i]), y[i]).backward()
            opt.step()
    net.eval()
    with torch.no_grad():
        scores.append((net(x[val]).argmax(1) == y[val]).float().mean().item())
    print("fold", k, scores[-1])
print("mean", sum(scores) / 5)
