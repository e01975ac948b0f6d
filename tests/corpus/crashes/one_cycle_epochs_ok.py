import torch
import torch.nn as nn
from torch.optim.lr_scheduler import OneCycleLR
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = 10


def loaders():
    x = torch.randn(512, 12)
    y = (x @ torch.randn(12, 1)).squeeze(1)
    return DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)


def main():
    torch.manual_seed(0)
    loader = loaders()
    net = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 1))
    opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    sched = OneCycleLR(opt, max_lr=0.05, total_steps=EPOCHS * len(loader))
    for epoch in range(EPOCHS):
        for x, y in loader:
            loss = nn.functional.mse_loss(net(x).squeeze(1), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
        print(epoch, loss.item(), sched.get_last_lr()[0])


main()
