import random

import torch
import torch.nn as nn

random.seed(20)
torch.manual_seed(20)

# a graph of two communities; predict whether two nodes are connected
N = 40
side = [i % 2 for i in range(N)]
pairs, linked = [], []
for i in range(N):
    for j in range(i):
        pairs.append((i, j))
        linked.append(int(random.random() < (0.9 if side[i] == side[j] else 0.1)))
pairs = torch.tensor(pairs)
linked = torch.tensor(linked, dtype=torch.float)


class LinkPredictor(nn.Module):
    def __init__(self, n_nodes, dim=8):
        super().__init__()
        self.node = nn.Embedding(n_nodes, dim)
        self.mix = nn.Linear(dim, 1)

    def forward(self, a, b):
        return torch.sigmoid(self.mix(self.node(a) * self.node(b))).squeeze(-1)


model = LinkPredictor(N)
criterion = nn.BCELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.03)

for epoch in range(10):
    perm = torch.randperm(len(pairs))
    running_loss = 0.0
    n_batches = 0
    for chunk in torch.split(perm, 130):
        optimizer.zero_grad()
        prob = model(pairs[chunk, 0], pairs[chunk, 1])
        loss = criterion(prob, linked[chunk])
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
        n_batches += 1
    print("epoch {:d}  bce {:.6f}".format(epoch, running_loss / n_batches))
