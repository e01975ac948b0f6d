import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(960, 10)
y = (x @ torch.randn(10, 1)).squeeze(1).tanh()
dl = DataLoader(TensorDataset(x, y), 32, shuffle=True)
net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
epochs = 6
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.1, epochs=epochs, steps_per_epoch=len(dl))
for epoch in range(epochs):
    for a, b in dl:
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(a).squeeze(1), b)
        loss.backward()
        opt.step()
    sched.step()
    print(epoch, loss.item(), opt.param_groups[0]["lr"])
