import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
N, CLASSES, FEATS = 240, 4, 60
genre = torch.randint(0, CLASSES, (N,))
same = (genre[:, None] == genre[None, :]).float()
adj = (torch.rand(N, N) < 0.01 + 0.03 * same).float().triu(1)
adj = adj + adj.t() + torch.eye(N)
deg = adj.sum(1).rsqrt()
adj = deg[:, None] * adj * deg[None, :]
x = torch.randn(N, FEATS)
x[torch.arange(N), genre] += 0.8

perm = torch.randperm(N)
train_mask = torch.zeros(N, dtype=torch.bool)
train_mask[perm[:60]] = True
test_mask = ~train_mask


class GCN(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.w1 = nn.Linear(FEATS, hidden)
        self.w2 = nn.Linear(hidden, CLASSES)

    def forward(self, x, adj):
        h = F.relu(adj @ self.w1(x))
        return adj @ self.w2(h)


model = GCN()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(100):
    model.train()
    optimizer.zero_grad()
    out = model(x, adj)
    loss = F.cross_entropy(out, genre)
    loss.backward()
    optimizer.step()
    if epoch % 20 == 0:
        print(f"epoch {epoch} loss {loss.item():.4f}")

model.eval()
with torch.no_grad():
    pred = model(x, adj).argmax(1)
print(f"train acc {(pred[train_mask] == genre[train_mask]).float().mean():.3f} "
      f"test acc {(pred[test_mask] == genre[test_mask]).float().mean():.3f}")
