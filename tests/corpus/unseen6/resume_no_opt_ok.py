import os
import tempfile

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(500, 10)
y = x[:, :2].prod(1, keepdim=True)
path = os.path.join(tempfile.mkdtemp(), "ckpt.pt")


def build():
    net = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 1))
    opt = torch.optim.Adam(net.parameters(), 5e-3)
    sched = torch.optim.lr_scheduler.StepLR(opt, 3, 0.3)
    return net, opt, sched


def train(net, opt, sched, start, stop):
    for epoch in range(start, stop):
        for i in torch.randperm(500).split(50):
            opt.zero_grad()
            loss = nn.functional.mse_loss(net(x[i]), y[i])
            loss.backward()
            opt.step()
        sched.step()
        print(epoch, loss.item(), opt.param_groups[0]["lr"])


net, opt, sched = build()
train(net, opt, sched, 0, 6)
torch.save({"net": net.state_dict(), "opt": opt.state_dict(), "sched": sched.state_dict(), "epoch": 6}, path)
net, opt, sched = build()
state = torch.load(path)
net.load_state_dict(state["net"])
opt.load_state_dict(state["opt"])
sched.load_state_dict(state["sched"])
train(net, opt, sched, state["epoch"], 12)
