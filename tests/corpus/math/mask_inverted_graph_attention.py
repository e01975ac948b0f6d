"""Graph attention on a two-community network: each node may look only at its neighbours."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def community_graph(n=60, p_in=0.25, p_out=0.02, seed=0):
    g = torch.Generator().manual_seed(seed)
    label = torch.arange(n) % 2
    same = label[:, None] == label[None, :]
    prob = torch.where(same, torch.tensor(p_in), torch.tensor(p_out))
    upper = (torch.rand(n, n, generator=g) < prob).triu(1)
    adj = upper | upper.t() | torch.eye(n, dtype=torch.bool)
    feats = torch.randn(n, 6, generator=g) + 0.6 * (label[:, None].float() * 2 - 1)
    return feats, adj, label


class GraphAttention(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.lin = nn.Linear(d_in, d_out, bias=False)
        self.src = nn.Linear(d_out, 1, bias=False)
        self.dst = nn.Linear(d_out, 1, bias=False)

    def forward(self, x, adj):
        h = self.lin(x)
        e = F.leaky_relu(self.src(h) + self.dst(h).t(), 0.2)
        e = e.masked_fill(adj, -1e9)
        return torch.softmax(e, dim=1) @ h


class GAT(nn.Module):
    def __init__(self):
        super().__init__()
        self.g1 = GraphAttention(6, 16)
        self.g2 = GraphAttention(16, 2)

    def forward(self, x, adj):
        return self.g2(F.elu(self.g1(x, adj)), adj)


def main():
    torch.manual_seed(1)
    x, adj, label = community_graph()
    order = torch.randperm(len(label))
    train, test = order[:24], order[24:]
    net = GAT()
    opt = torch.optim.Adam(net.parameters(), lr=0.02, weight_decay=5e-4)
    for epoch in range(40):
        net.train()
        opt.zero_grad()
        loss = F.cross_entropy(net(x, adj)[train], label[train])
        loss.backward()
        opt.step()
        if epoch % 8 == 7:
            net.eval()
            with torch.no_grad():
                acc = (net(x, adj)[test].argmax(1) == label[test]).float().mean()
            print(f"epoch {epoch + 1}: loss {loss.item():.5f} test {acc.item():.4f}")


main()
