import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(0)
walk = torch.randn(1500).cumsum(0)
walk = (walk - walk[:1200].mean()) / walk[:1200].std()
L = 20
w = walk.unfold(0, L + 1, 1)
data = TensorDataset(w[:, :L], w[:, L:])
train_set, test_set = random_split(data, [1180, len(data) - 1180])
train, test = DataLoader(train_set, 40, shuffle=True), DataLoader(test_set, 100)
net = nn.Sequential(nn.Linear(L, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.Adam(net.parameters(), 1e-3)
for epoch in range(5):
    net.train()
    for a, b in train:
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(a), b)
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        print(epoch, loss.item(), sum(nn.functional.mse_loss(net(a), b, reduction="sum").item() for a, b in test) / len(test_set))
