"""Sparse tensors and sparse gradients."""
import torch
from torch import nn

torch.manual_seed(0)
embedding = nn.EmbeddingBag(20, 4, sparse=True, mode="sum")
head = nn.Linear(4, 2)
first = torch.optim.SparseAdam(embedding.parameters(), lr=0.05)
second = torch.optim.SGD(head.parameters(), lr=0.1)
for step in range(5):
    ids = torch.randint(0, 20, (3, 4))
    for optimizer in (first, second):
        optimizer.zero_grad()
    loss = head(embedding(ids)).square().mean()
    loss.backward()
    print(step, loss.item(), embedding.weight.grad.is_sparse, embedding.weight.grad._nnz())
    first.step()
    second.step()
m = torch.sparse_coo_tensor([[0, 1], [1, 0]], [2.0, 3.0], (2, 2), requires_grad=True)
torch.sparse.mm(m, torch.ones(2, 2)).sum().backward()
print(m.grad.to_dense().tolist(), m.to_dense().tolist(), torch.eye(3).to_sparse_csr().values().tolist())
