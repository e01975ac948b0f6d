import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
enc, dec, book = nn.Linear(12, 4), nn.Linear(4, 12), nn.Embedding(16, 4)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters(), *book.parameters()], 5e-3)
x = torch.randn(6, 12)[torch.randint(0, 6, (600,))] + 0.1 * torch.randn(600, 12)
for epoch in range(8):
    for i in torch.randperm(600).split(50):
        z = enc(x[i])
        k = torch.cdist(z, book.weight).argmin(1)
        q = book(k)
        st = z + (q - z).detach()
        loss = F.mse_loss(dec(st), x[i]) + F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item(), k.unique().numel())
