"""Semi-supervised GCN on a synthetic citation graph of island communities."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def make_graph(n=300, classes=4, d=120, seed=0):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, classes, (n,), generator=g)
    same = (y[:, None] == y[None]).float()
    prob = 0.03 * same + 0.006 * (1 - same)
    adj = (torch.rand(n, n, generator=g) < prob).float().triu(1)
    adj = adj + adj.t() + torch.eye(n)
    deg = adj.sum(1).rsqrt()
    x = torch.randn(n, d, generator=g)
    x[:, :classes] += 1.5 * F.one_hot(y, classes)
    perm = torch.randperm(n, generator=g)
    train_mask = torch.zeros(n, dtype=torch.bool)
    train_mask[perm[:150]] = True
    return x, deg[:, None] * adj * deg[None], y, train_mask, ~train_mask


class GCN(nn.Module):
    def __init__(self, d, hidden, classes):
        super().__init__()
        self.lin1 = nn.Linear(d, hidden)
        self.lin2 = nn.Linear(hidden, classes)

    def forward(self, x, a):
        x = F.relu(a @ self.lin1(x))
        x = F.dropout(x, 0.3, training=self.training)
        return a @ self.lin2(x)


def train(model, optimizer, x, a, y, train_mask):
    model.train()
    optimizer.zero_grad()
    out = model(x, a)
    loss = F.cross_entropy(out[train_mask], y[train_mask])
    loss.backward()
    optimizer.step()
    return loss.item()


@torch.no_grad()
def test(model, x, a, y, masks):
    model.eval()
    pred = model(x, a).argmax(dim=-1)
    return [(pred[m] == y[m]).float().mean().item() for m in masks]


def main():
    torch.manual_seed(0)
    x, a, y, train_mask, test_mask = make_graph()
    model = GCN(x.size(1), 32, 4)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    for epoch in range(1, 81):
        loss = train(model, optimizer, x, a, y, train_mask)
        if epoch % 20 == 0:
            tr, te = test(model, x, a, y, (train_mask, test_mask))
            print(f"Epoch: {epoch:03d}, Loss: {loss:.4f}, Train: {tr:.4f}, Test: {te:.4f}")


if __name__ == "__main__":
    main()
