import torch
from torch import nn

torch.manual_seed(6)
gen = torch.Generator().manual_seed(6)
W = torch.randn(10, 3, generator=gen)
X = torch.randn(480, 10, generator=gen)
Y = torch.tanh(X @ W) + 0.05 * torch.randn(480, 3, generator=gen)


def make():
    net = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 3))
    return net, torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.95)


def run_epochs(net, opt, first, last):
    for epoch in range(first, last):
        for rows in torch.randperm(480).split(48):
            loss = nn.functional.mse_loss(net(X[rows]), Y[rows])
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"epoch {epoch} loss {loss.item():.6f}")
        state = {"net": net.state_dict(), "opt": opt.state_dict(), "epoch": epoch}
        torch.save(state, "last.pt")


net, opt = make()
run_epochs(net, opt, 0, 4)

# the machine was taken away; a new process picks the work up
net, opt = make()
saved = torch.load("last.pt", weights_only=True)
net.load_state_dict(saved["net"])
opt.load_state_dict(saved["opt"])
run_epochs(net, opt, saved["epoch"] + 1, 8)
