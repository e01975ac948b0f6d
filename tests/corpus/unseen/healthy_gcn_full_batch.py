import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(42)
N, K, FEAT = 200, 3, 24


def sbm():
    y = torch.arange(N) % K
    p = torch.where(y[:, None] == y[None], 0.10, 0.015)
    upper = torch.triu(torch.rand(N, N) < p, 1).float()
    a = upper + upper.T + torch.eye(N)
    deg = a.sum(1).pow(-0.5)
    a_hat = (deg[:, None] * a * deg[None]).to_sparse()
    x = (torch.rand(N, FEAT) < 0.1 + 0.15 * F.one_hot(y, K).repeat_interleave(FEAT // K, 1)).float()
    return x / x.sum(1, keepdim=True).clamp(min=1), a_hat, y


class GraphConv(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.kernel = nn.Parameter(torch.zeros(i, o))
        nn.init.xavier_normal_(self.kernel)
        self.bias = nn.Parameter(torch.zeros(o))

    def forward(self, x, adj):
        return torch.sparse.mm(adj, x @ self.kernel) + self.bias


class GCN(nn.Module):
    def __init__(self, h=16):
        super().__init__()
        self.gc1, self.gc2, self.drop = GraphConv(FEAT, h), GraphConv(h, K), nn.Dropout(0.5)

    def forward(self, x, adj):
        x = self.drop(F.relu(self.gc1(x, adj)))
        return F.log_softmax(self.gc2(x, adj), dim=1)


x, adj, y = sbm()
idx = torch.randperm(N)
idx_train, idx_val, idx_test = idx[:45], idx[45:100], idx[100:]
gcn = GCN()
optimizer = torch.optim.Adam(gcn.parameters(), lr=2e-2, weight_decay=5e-4)
best, wait = 0.0, 0
for epoch in range(150):
    gcn.train()
    optimizer.zero_grad()
    loss = F.nll_loss(gcn(x, adj)[idx_train], y[idx_train])
    loss.backward()
    optimizer.step()
    gcn.eval()
    with torch.no_grad():
        out = gcn(x, adj)
        val = (out[idx_val].argmax(1) == y[idx_val]).float().mean().item()
    wait = 0 if val > best else wait + 1
    best = max(best, val)
    if epoch % 25 == 0:
        print(f"Epoch {epoch:03d} loss {loss.item():.4f} val {val:.4f}")
    if wait > 60:
        break
print("test accuracy", (out[idx_test].argmax(1) == y[idx_test]).float().mean().item())
