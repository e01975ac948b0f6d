import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


def crop(record, size=24):
    if len(record) < size:
        return torch.nn.functional.pad(record, (0, size - len(record)))
    return record[:size]


class Records(Dataset):
    def __init__(self):
        g = torch.Generator().manual_seed(0)
        lengths = torch.randint(20, 60, (100,), generator=g).tolist()
        self.records = [torch.randn(n, generator=g) for n in lengths]

    def __len__(self):
        return len(self.records)

    def __getitem__(self, i):
        return crop(self.records[i])


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(24, 4), nn.Linear(4, 24))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(2):
    for x in DataLoader(Records(), batch_size=10, shuffle=True):
        loss = nn.functional.mse_loss(model(x), x)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
