import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(23)
N, C = 60, 3

# planted partition graph
community = torch.arange(N) % C
prob = torch.where(community[:, None] == community[None, :], 0.35, 0.03)
adj = (torch.rand(N, N) < prob).float().triu(1)
adj = adj + adj.t() + torch.eye(N)
deg = adj.sum(1)
a_hat = adj / (deg[:, None] * deg[None, :]).sqrt()
feats = torch.randn(N, 8) + F.one_hot(community, 8).float()
order = torch.randperm(N)
train_idx, test_idx = order[:42], order[42:]


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1 = nn.Linear(8, 16)
        self.w2 = nn.Linear(16, 16)
        self.out = nn.Linear(16, C)

    def propagate(self):
        h = F.relu(a_hat @ self.w1(feats))
        return F.relu(a_hat @ self.w2(h))

    def forward(self, h, idx):
        return self.out(h[idx])


net = GCN()
opt = torch.optim.Adam(net.parameters(), lr=0.01)

for epoch in range(12):
    net.train()
    losses = []
    h = net.propagate()
    for idx in train_idx[torch.randperm(len(train_idx))].split(14):
        loss = F.cross_entropy(net(h, idx), community[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    net.eval()
    with torch.no_grad():
        acc = (net(net.propagate(), test_idx).argmax(1) == community[test_idx]).float().mean().item()
    print(f"epoch {epoch:02d} loss {sum(losses) / len(losses):.6f} test {acc:.3f}")
