"""An older style: size_average=False, volatile-free, accuracy by max."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(330, 12)
y = (x[:, :4].sum(1) > 0).long() + (x[:, 4] > 0).long()
train_set, test_set = TensorDataset(x[:250], y[:250]), TensorDataset(x[250:], y[250:])
import warnings

warnings.simplefilter("ignore")
model = nn.Sequential(nn.Linear(12, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
for epoch in range(1, 4):
    for data, target in DataLoader(train_set, 50, shuffle=True):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(data), target)
        loss.backward()
        optimizer.step()
    print(f"Train Epoch: {epoch} \tLoss: {loss.item():.6f}")
    total, right = 0.0, 0
    with torch.no_grad():
        for data, target in DataLoader(test_set, 30):
            output = model(data)
            total += F.cross_entropy(output, target, size_average=False).item()
            right += (output.max(1)[1] == target).sum().item()
    print(f"Test: average loss {total / len(test_set):.4f}, accuracy {100 * right / len(test_set):.2f}%")
