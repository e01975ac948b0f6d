"""Early stopping with break and return, a loader iterated by hand, and StopIteration at its end."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(10, 2)), batch_size=2, shuffle=True)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def epoch(limit):
    for i, (x,) in enumerate(loader):
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        if i == limit:
            return loss.item()
    return None


print(epoch(1))
iterator = iter(loader)
print(len(iterator), next(iterator)[0].sum().item(), len(iterator))
rest = list(iterator)
print(len(rest))
try:
    next(iterator)
except StopIteration as end:
    print("end", end.value)
first, second = iter(loader), iter(loader)
print(next(first)[0].sum().item(), next(second)[0].sum().item(), torch.rand(1).item())
