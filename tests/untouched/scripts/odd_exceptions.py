"""Exceptions of unusual kinds come out of forward, backward, the loader and the optimizer; training goes on."""
import torch
from torch import nn
from torch.utils.data import DataLoader


class Stop(BaseException):
    pass


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)
        self.error = None

    def forward(self, x):
        if self.error is not None:
            raise self.error
        return self.fc(x)


class Data(torch.utils.data.Dataset):
    error = None

    def __len__(self):
        return 6

    def __getitem__(self, index):
        if self.error is not None and index == 3:
            raise self.error
        return torch.full((3,), float(index))


def hook(grad):
    if backward_error is not None:
        raise backward_error


backward_error = None
torch.manual_seed(0)
net, data = Net(), Data()
net.fc.weight.register_hook(hook)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def epoch():
    for x in DataLoader(data, batch_size=2):
        optimizer.zero_grad()
        loss = net(x).mean()
        loss.backward()
        optimizer.step()
        print(loss.item())


epoch()
for error in (StopIteration("stop"), GeneratorExit(), Stop("ours"), SystemExit(3), KeyboardInterrupt(), RecursionError()):
    net.error = error
    try:
        epoch()
    except BaseException as caught:
        print("forward", type(caught).__name__, caught is error, caught.__context__, caught.__cause__)
    net.error, data.error = None, error
    try:
        epoch()
    except BaseException as caught:
        print("loader", type(caught).__name__, caught is error, type(caught.__context__).__name__)
    data.error = None
for error in (ValueError("hook"), KeyError("hook"), MemoryError()):
    backward_error = error
    try:
        epoch()
    except BaseException as caught:
        print("backward", type(caught).__name__, caught is error)
    backward_error = None
try:
    optimizer.step("not a closure")
except TypeError as caught:
    print("step", caught)
epoch()
