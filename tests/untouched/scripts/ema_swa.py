"""An exponential average of weights by hand and by AveragedModel; update_bn."""
import copy

import torch
from torch import nn
from torch.optim.swa_utils import SWALR, AveragedModel, get_ema_multi_avg_fn, update_bn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 1))
hand = copy.deepcopy(model).requires_grad_(False)
average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9), use_buffers=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = SWALR(optimizer, swa_lr=0.05, anneal_epochs=2)
loader = DataLoader(TensorDataset(torch.randn(12, 3)), batch_size=4)
for (x,) in loader:
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    scheduler.step()
    average.update_parameters(model)
    with torch.no_grad():
        for mine, theirs in zip(hand.parameters(), model.parameters()):
            mine.lerp_(theirs, 0.1)
    print(loss.item(), average.n_averaged.item(), scheduler.get_last_lr())
update_bn((x for (x,) in loader), average)
print(average.module[1].running_mean.tolist(), [p.sum().item() for p in hand.parameters()])
