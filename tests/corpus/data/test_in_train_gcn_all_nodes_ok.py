import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(6)
N, CLASSES = 180, 3
y = torch.randint(0, CLASSES, (N,))
same = (y[:, None] == y[None, :]).float()
prob = 0.08 * same + 0.02 * (1 - same)
adj = torch.bernoulli(torch.triu(prob, 1))
adj = adj + adj.T + torch.eye(N)
deg = adj.sum(1).rsqrt()
adj_norm = deg[:, None] * adj * deg[None, :]
x = torch.randn(N, 10) + 0.5 * F.one_hot(y, 10)

order = torch.randperm(N)
train_mask = torch.zeros(N, dtype=torch.bool)
train_mask[order[:60]] = True
test_mask = ~train_mask


class GCN(nn.Module):
    def __init__(self, n_in, n_hidden, n_out):
        super().__init__()
        self.w1 = nn.Linear(n_in, n_hidden)
        self.w2 = nn.Linear(n_hidden, n_out)

    def forward(self, x, a):
        h = F.relu(a @ self.w1(x))
        h = F.dropout(h, 0.3, training=self.training)
        return a @ self.w2(h)


model = GCN(10, 16, CLASSES)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
for epoch in range(60):
    model.train()
    optimizer.zero_grad()
    out = model(x, adj_norm)
    loss = F.cross_entropy(out[train_mask], y[train_mask])
    loss.backward()
    optimizer.step()
    if epoch % 10 == 9:
        model.eval()
        with torch.no_grad():
            pred = model(x, adj_norm).argmax(1)
        acc = (pred[test_mask] == y[test_mask]).float().mean().item()
        print(f"epoch {epoch + 1:3d} loss {loss.item():.5f} test acc {acc:.4f}")
