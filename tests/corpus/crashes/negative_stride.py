import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


def mirror(picture):
    return picture[:, ::-1]


class Pictures(Dataset):
    def __init__(self, n=40):
        self.data = np.random.default_rng(0).random((n, 8, 8), dtype=np.float32)

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        return torch.from_numpy(mirror(self.data[i])), i % 2


torch.manual_seed(0)
model = nn.Sequential(nn.Flatten(), nn.Linear(64, 2))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(2):
    for x, y in DataLoader(Pictures(), batch_size=8):
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
print(loss.item())
