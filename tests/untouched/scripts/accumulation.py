"""Gradient accumulation with clipping, and an odd rest at the end of the epoch."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(13, 8), nn.Flatten(), nn.Linear(24, 13))
optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9, nesterov=True)
loader = DataLoader(TensorDataset(torch.randint(0, 13, (20, 3)), torch.randint(0, 13, (20,))), batch_size=4)
for epoch in range(2):
    for i, (x, y) in enumerate(loader, 1):
        loss = F.cross_entropy(model(x), y) / 2
        loss.backward()
        if i % 2 == 0 or i == len(loader):
            norm = nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            nn.utils.clip_grad_value_(model.parameters(), 0.1)
            optimizer.step()
            optimizer.zero_grad(set_to_none=i != 4)
            print(epoch, i, loss.item(), norm.item())
