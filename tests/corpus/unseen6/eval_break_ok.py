import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(900, 10)
y = (x[:, :3].sum(1) > 0).long()
train, test = DataLoader(TensorDataset(x[:600], y[:600]), 40, shuffle=True), DataLoader(TensorDataset(x[600:], y[600:]), 60)
net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.Adam(net.parameters(), 3e-3)


def evaluate():
    net.eval()
    hits = 0
    with torch.no_grad():
        for a, b in test:
            hits += (net(a).argmax(1) == b).sum().item()
    return hits / len(test.dataset)


for epoch in range(5):
    net.train()
    for a, b in train:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(a), b)
        loss.backward()
        opt.step()
    print(epoch, loss.item(), evaluate())
