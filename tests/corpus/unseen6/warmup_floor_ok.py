import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(800, 10)
y = (x[:, :4].sum(1) > 0).long()
net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.Adam(net.parameters(), 3e-3)
warmup = 40
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / warmup))
for epoch in range(4):
    for i in torch.randperm(800).split(50):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x[i]), y[i])
        loss.backward()
        opt.step()
        sched.step()
    print(epoch, loss.item(), opt.param_groups[0]["lr"])
