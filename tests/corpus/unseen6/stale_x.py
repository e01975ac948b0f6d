import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X = torch.randn(640, 10)
Y = X[:, :3].sum(1, keepdim=True).sin()
train, val = DataLoader(TensorDataset(X[:512], Y[:512]), 32, shuffle=True), DataLoader(TensorDataset(X[512:], Y[512:]), 32)
net = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.Adam(net.parameters(), 3e-3)
for epoch in range(6):
    net.train()
    for x, y in train:
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        opt.step()
    net.eval()
    total = 0.0
    with torch.no_grad():
        for xv, yv in val:
            total += nn.functional.mse_loss(net(x), yv).item()
    print(epoch, loss.item(), total / len(val))
