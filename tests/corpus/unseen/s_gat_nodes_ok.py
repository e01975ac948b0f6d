import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2)
N, K = 160, 4


def planted_graph():
    label = torch.randint(0, K, (N,))
    same = label[:, None] == label[None]
    prob = torch.where(same, torch.tensor(0.12), torch.tensor(0.012))
    hubs = torch.rand(N) < 0.15
    prob = torch.where(hubs[:, None] | hubs[None], prob * 6, prob).clamp(max=0.9)
    upper = torch.triu(torch.rand(N, N) < prob, 1)
    adj = (upper | upper.T | torch.eye(N, dtype=torch.bool))
    feats = F.one_hot(label, K).float() + 2.0 * torch.randn(N, K)
    return feats, adj, label


class GATLayer(nn.Module):
    def __init__(self, d_in, d_out, slope=0.2):
        super().__init__()
        self.lin = nn.Linear(d_in, d_out, bias=False)
        self.a_src = nn.Parameter(torch.randn(d_out) * 0.1)
        self.a_dst = nn.Parameter(torch.randn(d_out) * 0.1)
        self.slope = slope

    def forward(self, x, adj):
        h = self.lin(x)
        e = F.leaky_relu((h @ self.a_dst)[:, None] + (h @ self.a_src)[None], self.slope)
        e = e.masked_fill(~adj, float("-inf"))
        alpha = torch.softmax(e, dim=1)
        return alpha @ h


class GAT(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = GATLayer(K, 16)
        self.l2 = GATLayer(16, K)

    def forward(self, x, adj):
        return self.l2(F.elu(self.l1(x, adj)), adj)


feats, adj, label = planted_graph()
train_mask = torch.zeros(N, dtype=torch.bool)
train_mask[torch.randperm(N)[:60]] = True
model = GAT()
opt = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=5e-4)
for epoch in range(200):
    opt.zero_grad()
    out = model(feats, adj)
    loss = F.cross_entropy(out[train_mask], label[train_mask])
    loss.backward()
    opt.step()
    if epoch % 40 == 39:
        hit = out[~train_mask].argmax(1) == label[~train_mask]
        print(f"epoch {epoch + 1} loss {loss.item():.4f} test acc {hit.float().mean():.3f}")
