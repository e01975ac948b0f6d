import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X = torch.randn(560, 8)
Y = X[:, :2].prod(1, keepdim=True)
dl = DataLoader(TensorDataset(X, Y), 16, shuffle=True)
net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.Adam(net.parameters(), 3e-3)
for epoch in range(6):
    for i, (x, y) in enumerate(dl):
        loss = nn.functional.mse_loss(net(x), y) / 8
        loss.backward()
        if (i + 1) % 8 == 0 or i + 1 == len(dl):
            opt.step()
            opt.zero_grad()
    print(epoch, loss.item() * 8)
