import torch
from torch import nn

torch.manual_seed(0)
x = torch.rand(300, 1) * 4 - 2
y = x.sin() + 0.1 * torch.randn_like(x)
net = nn.Sequential(nn.Linear(1, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 1))
opt = torch.optim.Adam(net.parameters(), 3e-3)
for epoch in range(20):
    for i in torch.randperm(300).split(30):
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x[i]), y[i])
        loss.backward()
        opt.step()
net.eval()
for m in net.modules():
    if isinstance(m, nn.Dropout):
        m.train()
with torch.no_grad():
    grid = torch.linspace(-3, 3, 7).unsqueeze(1)
    draws = torch.stack([net(grid) for _ in range(50)])
print(draws.mean(0).squeeze(1).tolist(), draws.std(0).squeeze(1).tolist())
