import torch
from torch import nn

torch.manual_seed(0)


class Coupling(nn.Module):
    def __init__(self, flip):
        super().__init__()
        self.flip, self.net = flip, nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 2))

    def forward(self, x):
        a, b = x.chunk(2, 1)
        if self.flip:
            a, b = b, a
        s, t = self.net(a).chunk(2, 1)
        s = s.tanh()
        b = b * s.exp() + t
        return (torch.cat([b, a], 1) if self.flip else torch.cat([a, b], 1)), s.sum(1)


flow = nn.ModuleList([Coupling(i % 2) for i in range(4)])
opt = torch.optim.Adam(flow.parameters(), 3e-3)
for step in range(200):
    x = torch.randn(128, 2) * 0.1
    x = x + torch.randint(0, 2, (128, 1)) * 0.5
    z, ld = x, 0
    for f in flow:
        z, d = f(z)
        ld = ld + d
    loss = (0.5 * z.pow(2).sum(1) - ld).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 0:
        print(step, loss.item())
