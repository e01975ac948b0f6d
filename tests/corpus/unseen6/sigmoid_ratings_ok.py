import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
U, I, K = 60, 80, 4
pu, qi = torch.randn(U, K), torch.randn(I, K)
u, i = torch.randint(0, U, (3000,)), torch.randint(0, I, (3000,))
r = ((pu[u] * qi[i]).sum(1) + 3).round().clamp(1, 5)
train = DataLoader(TensorDataset(u[:2500], i[:2500], r[:2500]), 128, shuffle=True)


class MF(nn.Module):
    def __init__(self):
        super().__init__()
        self.u, self.i = nn.Embedding(U, 8), nn.Embedding(I, 8)
        self.bu, self.bi = nn.Embedding(U, 1), nn.Embedding(I, 1)

    def forward(self, u, i):
        s = (self.u(u) * self.i(i)).sum(1) + self.bu(u).squeeze(1) + self.bi(i).squeeze(1)
        return 1 + 4 * torch.sigmoid(s)


m = MF()
opt = torch.optim.Adam(m.parameters(), 0.02)
for epoch in range(8):
    for a, b, c in train:
        loss = nn.functional.mse_loss(m(a, b), c)
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        rmse = (m(u[2500:], i[2500:]) - r[2500:]).pow(2).mean().sqrt()
    print(epoch, loss.item(), rmse.item())
