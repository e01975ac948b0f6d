import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(800, 6)
price = (x[:, :2].sum(1) + 5 + 0.2 * torch.randn(800)).exp()
target = torch.log1p(price).unsqueeze(1)
net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), 5e-3)
for epoch in range(8):
    net.train()
    for i in torch.randperm(600).split(30):
        loss = nn.functional.mse_loss(net(x[i]), target[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        pred = net(x[600:]).squeeze(1)
        mae = (pred - price[600:]).abs().mean()
    print(epoch, loss.item(), "MAE", mae.item())
