import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(0)
x = torch.randn(700, 1, 10, 10)
y = (x[:, 0, :5].mean((1, 2)) > x[:, 0, 5:].mean((1, 2))).long()
full = TensorDataset(x, y)
train_ds, val_ds = random_split(full, [560, 140])
train_loader = DataLoader(train_ds, 28, shuffle=True)
val_loader = DataLoader(train_ds, 70)
net = nn.Sequential(nn.Conv2d(1, 16, 3), nn.ReLU(), nn.Flatten(), nn.Linear(1024, 2))
opt = torch.optim.Adam(net.parameters(), 1e-3)
for epoch in range(6):
    net.train()
    for a, b in train_loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(a), b)
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        hits, seen = 0, 0
        for a, b in val_loader:
            hits += (net(a).argmax(1) == b).sum().item()
            seen += len(b)
    print(epoch, loss.item(), hits / seen)
