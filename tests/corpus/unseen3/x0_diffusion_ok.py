import torch
from torch import nn

torch.manual_seed(22)
T = 40
abar = torch.cumprod(1 - torch.linspace(1e-3, 0.2, T), 0)
net = nn.Sequential(nn.Linear(3, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 2))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)


def blobs(n):
    c = torch.tensor([[2., 0.], [-2., 0.], [0., 2.]])
    return c[torch.randint(0, 3, (n,))] + 0.1 * torch.randn(n, 2)


def predict_x0(x, t):
    return net(torch.cat([x, t[:, None] / T], 1))


for it in range(500):
    x0, t = blobs(128), torch.randint(0, T, (128,))
    a = abar[t][:, None]
    xt = a.sqrt() * x0 + (1 - a).sqrt() * torch.randn_like(x0)
    loss = nn.functional.mse_loss(predict_x0(xt, t), x0)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 125 == 0:
        print(f"iter {it} x0 mse {loss.item():.4f}")

with torch.no_grad():
    x = torch.randn(300, 2)
    for k in reversed(range(T)):
        t = torch.full((300,), k)
        x0 = predict_x0(x, t)
        if k == 0:
            x = x0
            break
        eps = (x - abar[k].sqrt() * x0) / (1 - abar[k]).sqrt()
        x = abar[k - 1].sqrt() * x0 + (1 - abar[k - 1]).sqrt() * eps
print("distance to the nearest blob", torch.cdist(x, blobs(300)).min(1).values.mean().item())
