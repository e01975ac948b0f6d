import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(330, 8)
y = x[:, :2].prod(1, keepdim=True)
dl = DataLoader(TensorDataset(x, y), 16, shuffle=True)
net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.AdamW(net.parameters(), 3e-3)
accum = 4
for epoch in range(6):
    total = 0.0
    opt.zero_grad()
    for i, (a, b) in enumerate(dl):
        group = min(accum, len(dl) - i // accum * accum)
        loss = nn.functional.mse_loss(net(a), b)
        (loss / group).backward()
        total += loss.item() * len(a)
        if (i + 1) % accum == 0 or i + 1 == len(dl):
            opt.step()
            opt.zero_grad()
    print(epoch, total / 330)
