"""Pickling and copying of models, optimizers, schedulers and loaders in the middle of training."""

import copy
import io
import pickle

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)

    def forward(self, x):
        return self.fc(x)


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
loader = DataLoader(TensorDataset(torch.arange(18.0).view(6, 3)), batch_size=2, shuffle=True)
for (x,) in loader:
    optimizer.zero_grad()
    net(x).mean().backward()
    optimizer.step()
    scheduler.step()
    for thing in (net, optimizer, loader):
        data = pickle.dumps(thing)
        again = pickle.loads(data)
        print(type(again).__name__, len(data), sorted(vars(again)) == sorted(vars(thing)))
    twin = copy.deepcopy(net)
    print(
        sorted(vars(twin)) == sorted(vars(net)),
        [len(v) for k, v in vars(twin).items() if "hooks" in k and v is not None and v is not True],
    )
    print(
        type(copy.copy(optimizer)).__name__,
        type(copy.deepcopy(optimizer)).__name__,
        type(copy.deepcopy(loader)).__name__,
    )
    print(sorted(copy.deepcopy(scheduler.state_dict()).items())[:2])
file = io.BytesIO()
torch.save(net, file)
print(len(file.getvalue()), b"stepscope" in file.getvalue())
file.seek(0)
whole = torch.load(file, weights_only=False)
print(type(whole).__module__, torch.equal(whole.fc.weight, net.fc.weight), pickle.dumps(type(iter(loader))))
