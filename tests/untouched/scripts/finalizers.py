# untouched: known in run, check: small datasets and the parts of small models are kept until the end, to be asked once more
"""When things die: models, optimizers, loaders, datasets and iterators with finalizers that print."""
import gc
import weakref

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Data(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.full((3,), float(index))

    def __del__(self):
        print("the dataset is gone")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)

    def forward(self, x):
        return self.fc(x)

    def __del__(self):
        print("the model is gone")


def train():
    data = Data()
    loader = DataLoader(data, batch_size=4)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for what in (loader, optimizer, model.fc):
        weakref.finalize(what, print, "finalized", type(what).__name__)
    for x in loader:
        optimizer.zero_grad()
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        print(loss.item())
    print("end of train")


torch.manual_seed(0)
train()
print("after train")
gc.collect()
print("after collect")
train()
gc.collect()
print("end")
