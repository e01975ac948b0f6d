import torch
from torch import nn

torch.manual_seed(0)


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return -ctx.lam * g, None


f, c, d = nn.Sequential(nn.Linear(6, 32), nn.ReLU()), nn.Linear(32, 2), nn.Linear(32, 2)
opt = torch.optim.Adam([*f.parameters(), *c.parameters(), *d.parameters()], 2e-3)
src, tgt = torch.randn(400, 6), torch.randn(400, 6) + 0.5
y = (src.sum(1) > 0).long()
for epoch in range(6):
    for i in torch.randperm(400).split(40):
        hs, ht = f(src[i]), f(tgt[i])
        dom = d(Reverse.apply(torch.cat([hs, ht]), 0.1))
        loss = nn.functional.cross_entropy(c(hs), y[i]) + nn.functional.cross_entropy(dom, torch.arange(2).repeat_interleave(40))
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
