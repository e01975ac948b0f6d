import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(32, 20), torch.randint(0, 10, (32,))
net = nn.Sequential(nn.Linear(20, 128), nn.ReLU(), nn.Linear(128, 10))
opt = torch.optim.Adam(net.parameters(), 1e-2)
for step in range(200):
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
assert (net(x).argmax(1) == y).all()
print("memorized", loss.item())
