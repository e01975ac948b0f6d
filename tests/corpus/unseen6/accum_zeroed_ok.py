import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(640, 9)
y = (x[:, 0] * x[:, 1] + x[:, 2]).unsqueeze(1)
dl = DataLoader(TensorDataset(x, y), 8, shuffle=True)
net = nn.Sequential(nn.Linear(9, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.Adam(net.parameters(), 2e-3)
accum = 4
for epoch in range(6):
    for i, (a, b) in enumerate(dl):
        loss = nn.functional.mse_loss(net(a), b) / accum
        loss.backward()
        if (i + 1) % accum == 0:
            opt.step()
            opt.zero_grad()
    print(epoch, loss.item() * accum)
