import torch
from torch import nn

torch.manual_seed(0)
N, K = 150, 3
y = torch.randint(0, K, (N,))
x = torch.randn(N, 16) + nn.functional.one_hot(y, 16).float()
p = torch.where(y[:, None] == y[None, :], 0.08, 0.01)
adj = ((torch.rand(N, N) < p).float().triu(1))
adj = adj + adj.t() + torch.eye(N)
d = adj.sum(1).rsqrt()
adj = d[:, None] * adj * d[None, :]
perm = torch.randperm(N)
train_mask = torch.zeros(N, dtype=torch.bool)
train_mask[perm[:60]] = True
test_mask = ~train_mask


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1, self.w2 = nn.Linear(16, 32), nn.Linear(32, K)

    def forward(self, x):
        return adj @ self.w2(torch.relu(adj @ self.w1(x)))


net = GCN()
opt = torch.optim.Adam(net.parameters(), 0.02, weight_decay=5e-4)
for epoch in range(60):
    net.train()
    out = net(x)
    loss = nn.functional.cross_entropy(out, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 10 == 0:
        net.eval()
        with torch.no_grad():
            pred = net(x).argmax(1)
        print(epoch, loss.item(), (pred[test_mask] == y[test_mask]).float().mean().item())
