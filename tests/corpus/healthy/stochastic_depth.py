import random
import torch
import torch.nn as nn

random.seed(0)
torch.manual_seed(0)


class DropPathNet(nn.Module):
    def __init__(self, d=32, depth=5, drop=0.3):
        super().__init__()
        self.stem, self.head = nn.Linear(6, d), nn.Linear(d, 1)
        self.blocks = nn.ModuleList(nn.Sequential(nn.LayerNorm(d), nn.Linear(d, d), nn.GELU(), nn.Linear(d, d)) for _ in range(depth))
        self.drop = drop

    def forward(self, x):
        h = self.stem(x)
        for block in self.blocks:
            if self.training and random.random() < self.drop:
                continue
            h = h + block(h) / (1 if not self.training else 1 - self.drop)
        return self.head(h)


x = torch.randn(300, 6)
y = x[:, :1] * x[:, 1:2] + x[:, 2:3]
xv = torch.randn(100, 6)
yv = xv[:, :1] * xv[:, 1:2] + xv[:, 2:3]
net = DropPathNet()
opt = torch.optim.AdamW(net.parameters(), lr=3e-3)
for epoch in range(7):
    net.train()
    for idx in torch.randperm(300).split(30):
        loss = nn.functional.mse_loss(net(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        val = nn.functional.mse_loss(net(xv), yv)
    print(f"epoch {epoch} train {loss.item():.5f} val {val.item():.5f}")
