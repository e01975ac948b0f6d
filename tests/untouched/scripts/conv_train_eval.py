"""A convnet with batch norm: training epochs, evaluation, best weights kept, metrics by hand."""
import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset, random_split

torch.manual_seed(0)
data = TensorDataset(torch.randn(20, 1, 6, 6), torch.randint(0, 2, (20,)))
train, test = random_split(data, [12, 8], generator=torch.Generator().manual_seed(1))
train_loader = DataLoader(train, batch_size=4, shuffle=True, drop_last=True)
test_loader = DataLoader(Subset(test, range(6)), batch_size=3)
model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
best, kept = float("inf"), None
for epoch in range(2):
    model.train()
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        total = sum(F.cross_entropy(model(x), y, reduction="sum").item() for x, y in test_loader) / 6
    if total < best:
        best, kept = total, copy.deepcopy(model.state_dict())
    print(epoch, loss.item(), total, model[1].num_batches_tracked.item())
model.load_state_dict(kept)
print(best, model[1].running_var.tolist())
