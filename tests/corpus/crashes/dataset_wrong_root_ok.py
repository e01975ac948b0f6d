import os
import tempfile

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

ROOT = tempfile.mkdtemp()
for i in range(10):
    torch.save(torch.randn(4), os.path.join(ROOT, f"{i}.pt"))


class Files(Dataset):
    def __init__(self, root):
        self.root = root
        self.names = sorted(os.listdir(root))

    def __len__(self):
        return len(self.names)

    def __getitem__(self, i):
        return torch.load(os.path.join(self.root, self.names[i]))


torch.manual_seed(0)
model = nn.Linear(4, 4)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for x in DataLoader(Files(ROOT), batch_size=5):
    loss = (model(x) - x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
