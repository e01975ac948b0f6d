import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(640, 10)
y = (x[:, :2].prod(1) > 0).long()
dl = DataLoader(TensorDataset(x, y), 32, shuffle=True)
net = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 2))
opt = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
epochs = 8
sched = torch.optim.lr_scheduler.MultiStepLR(opt, [4 * len(dl), 6 * len(dl)], 0.1)
for epoch in range(epochs):
    for a, b in dl:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(a), b)
        loss.backward()
        opt.step()
    sched.step()
    print(epoch, loss.item(), sched.get_last_lr())
