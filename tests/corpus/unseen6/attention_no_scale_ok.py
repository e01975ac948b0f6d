import torch
from torch import nn

torch.manual_seed(0)


class Attn(nn.Module):
    def __init__(self, d=24):
        super().__init__()
        self.emb = nn.Linear(4, d)
        self.q, self.k, self.v = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)
        self.out = nn.Linear(d, 1)

    def forward(self, x):
        h = self.emb(x)
        s = self.q(h) @ self.k(h).transpose(1, 2) / h.size(-1) ** 0.5
        w = s.softmax(dim=2)
        return self.out(h + w @ self.v(h)).squeeze(-1)


x = torch.randn(500, 10, 4)
y = x[..., 0] + x[..., 1].max(1, keepdim=True).values
net = Attn()
opt = torch.optim.Adam(net.parameters(), 3e-3)
for epoch in range(6):
    for i in torch.randperm(500).split(25):
        loss = nn.functional.mse_loss(net(x[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
