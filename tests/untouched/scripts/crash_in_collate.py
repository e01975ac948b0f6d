"""An exception in a dataset, with and without workers: KeyError, text and exit code."""
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Data(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        if i == 5:
            raise KeyError(f"sample {i}")
        return torch.full((2,), float(i))


torch.manual_seed(0)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for workers in (0, 1):
    try:
        for x in DataLoader(Data(), batch_size=2, num_workers=workers):
            optimizer.zero_grad()
            loss = model(x).sum()
            loss.backward()
            optimizer.step()
            print(workers, loss.item())
    except KeyError as error:
        text = str(error.args[0])
        print(type(error).__name__, text.splitlines()[0], "__getitem__" in text, "stepscope" in text)
sys.exit(5)
