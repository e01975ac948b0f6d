import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(1000, 8)
y = (x[:, :3].sum(1) > 0.5).long()
train = DataLoader(TensorDataset(x[:790], y[:790]), 64, shuffle=True)
valid = DataLoader(TensorDataset(x[790:], y[790:]), 69)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.Adam(net.parameters(), 3e-3)
for epoch in range(5):
    net.train()
    for a, b in train:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(a), b)
        loss.backward()
        opt.step()
    net.eval()
    acc = 0.0
    with torch.no_grad():
        for a, b in valid:
            acc += (net(a).argmax(1) == b).sum().item()
    acc /= len(valid.dataset)
    print(f"epoch {epoch} loss {loss.item():.3f} val acc {acc:.4f}")
