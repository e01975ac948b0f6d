import warnings
import numpy as np
import torch
import torch.nn as nn

warnings.filterwarnings("ignore")
torch.manual_seed(44)
np.random.seed(44)

hours = np.random.randint(0, 24, 2000)
temp = np.random.uniform(-5, 30, 2000)
wet = (np.random.rand(2000) < 0.2).astype(float)
demand = 50 + 30 * np.sin((hours - 6) / 24 * 2 * np.pi) + 1.5 * temp - 25 * wet + np.random.randn(2000) * 3
feats = np.stack([np.sin(hours / 24 * 2 * np.pi), np.cos(hours / 24 * 2 * np.pi), temp / 15 - 1, wet], 1)

x = torch.tensor(feats, dtype=torch.float32)
y = torch.tensor((demand - demand[:1600].mean()) / demand[:1600].std(), dtype=torch.float32)


class DemandNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x)


net = DemandNet()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
loss_fn = nn.MSELoss()
for epoch in range(15):
    for idx in torch.randperm(1600).split(64):
        out = net(x[idx])
        loss = loss_fn(out, y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 3 == 0:
        print("epoch", epoch, "loss", round(loss.item(), 4))

with torch.no_grad():
    p = net(x[1600:]).numpy().ravel()
print("correlation with truth:", np.corrcoef(p, y[1600:].numpy())[0, 1])
print("std of predictions:", p.std())
