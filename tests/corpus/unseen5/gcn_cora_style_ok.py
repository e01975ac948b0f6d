"""Planetoid-style GCN: transductive, loss on the training mask only, all node features are visible."""
import torch
import torch.nn.functional as F
from torch import nn


def planetoid(seed=0, n=240, classes=3):
    g = torch.Generator().manual_seed(seed)
    y = torch.arange(n) % classes
    p = torch.where(y[:, None] == y[None], 0.05, 0.008)
    upper = (torch.rand(n, n, generator=g) < p).triu(1)
    src, dst = upper.nonzero(as_tuple=True)
    edge_index = torch.stack([torch.cat([src, dst]), torch.cat([dst, src])])
    x = torch.randn(n, 24, generator=g)
    x[:, :classes] += F.one_hot(y, classes)
    masks = torch.zeros(3, n, dtype=torch.bool)
    perm = torch.randperm(n, generator=g)
    masks[0, perm[:40]], masks[1, perm[40:100]], masks[2, perm[100:]] = True, True, True
    return x, edge_index, y, masks


class GCNConv(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.lin = nn.Linear(i, o, bias=False)
        self.bias = nn.Parameter(torch.zeros(o))

    def forward(self, x, edge_index):
        n = x.size(0)
        loops = torch.arange(n)
        src, dst = torch.cat([edge_index[0], loops]), torch.cat([edge_index[1], loops])
        deg = torch.zeros(n).index_add_(0, dst, torch.ones(len(dst)))
        norm = deg.rsqrt()[src] * deg.rsqrt()[dst]
        h = self.lin(x)
        return torch.zeros_like(h).index_add(0, dst, norm[:, None] * h[src]) + self.bias


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = GCNConv(24, 16), GCNConv(16, 3)

    def forward(self, x, ei):
        x = F.dropout(x, p=0.5, training=self.training)
        x = F.relu(self.conv1(x, ei))
        x = F.dropout(x, p=0.5, training=self.training)
        return self.conv2(x, ei)


torch.manual_seed(12345)
x, ei, y, (train_mask, val_mask, test_mask) = planetoid()
model = GCN()
opt = torch.optim.Adam([{"params": model.conv1.parameters(), "weight_decay": 5e-4},
                        {"params": model.conv2.parameters(), "weight_decay": 0}], lr=0.01)
best_val = test_acc = 0
for epoch in range(1, 121):
    model.train()
    opt.zero_grad()
    loss = F.cross_entropy(model(x, ei)[train_mask], y[train_mask])
    loss.backward()
    opt.step()
    model.eval()
    with torch.no_grad():
        pred = model(x, ei).argmax(-1)
    val, test = ((pred[m] == y[m]).float().mean().item() for m in (val_mask, test_mask))
    if val > best_val:
        best_val, test_acc = val, test
    if epoch % 30 == 0:
        print(f"Epoch {epoch:03d} loss {loss.item():.4f} val {best_val:.4f} test {test_acc:.4f}")
