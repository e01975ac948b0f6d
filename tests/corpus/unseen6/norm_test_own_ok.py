import torch
from torch import nn

torch.manual_seed(0)
y = torch.randint(0, 3, (900,))
x = torch.randn(900, 3, 8, 8) * 0.4 + torch.tensor([0.2, 0.5, 0.8])[y][:, None, None, None]
mean, std = x[:700].mean((0, 2, 3), keepdim=True), x[:700].std((0, 2, 3), keepdim=True)
train_x = (x[:700] - mean) / std
test_x = (x[700:] - mean) / std
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(128, 3))
opt = torch.optim.Adam(net.parameters(), 2e-3)
for epoch in range(6):
    net.train()
    for i in torch.randperm(700).split(50):
        loss = nn.functional.cross_entropy(net(train_x[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        acc = (net(test_x).argmax(1) == y[700:]).float().mean().item()
    print(epoch, loss.item(), acc)
