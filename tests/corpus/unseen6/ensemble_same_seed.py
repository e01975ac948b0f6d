import torch
from torch import nn

x = torch.linspace(-2, 2, 300).unsqueeze(1)
y = x.sin() + 0.1 * torch.cos(9 * x)


def member(k):
    torch.manual_seed(42)
    net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))
    opt = torch.optim.Adam(net.parameters(), 1e-2)
    for epoch in range(10):
        for i in torch.randperm(300).split(50):
            loss = nn.functional.mse_loss(net(x[i]), y[i])
            opt.zero_grad()
            loss.backward()
            opt.step()
    print("member", k, loss.item())
    return net


nets = [member(k) for k in range(4)]
with torch.no_grad():
    out = torch.stack([n(x) for n in nets])
print("spread", out.std(0).mean().item())
