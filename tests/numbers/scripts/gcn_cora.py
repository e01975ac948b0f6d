"""A graph network: loss, train, val and test accuracy on masks of one graph."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
n = 60
feat, adj = torch.randn(n, 8), (torch.rand(n, n) > 0.9).float() + torch.eye(n)
adj = adj / adj.sum(1, keepdim=True)
label = (feat[:, 0] > 0).long() + (feat[:, 1] > 0).long()
mask = torch.arange(n) % 3
w1, w2 = nn.Linear(8, 16), nn.Linear(16, 3)
optimizer = torch.optim.Adam([*w1.parameters(), *w2.parameters()], lr=0.02, weight_decay=5e-4)


def forward():
    return w2(adj @ F.relu(w1(adj @ feat)))


@torch.no_grad()
def test():
    pred = forward().argmax(dim=-1)
    return [int((pred[mask == k] == label[mask == k]).sum()) / int((mask == k).sum()) for k in range(3)]


best = 0.0
for epoch in range(1, 9):
    optimizer.zero_grad()
    loss = F.cross_entropy(forward()[mask == 0], label[mask == 0])
    loss.backward()
    optimizer.step()
    train_acc, val_acc, test_acc = test()
    print(
        f"Epoch: {epoch:03d}, Loss: {loss.item():.4f}, Train: {train_acc:.4f}, Val: {val_acc:.4f}, Test: {test_acc:.4f}"
    )
