import torch
from torch import nn
from torch.optim.swa_utils import SWALR, AveragedModel, update_bn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(500, 12)
y = (x[:, :4].sum(1) > 0).long()
train, test = DataLoader(TensorDataset(x[:400], y[:400]), 48, shuffle=True), DataLoader(TensorDataset(x[400:], y[400:]), 100)
net = nn.Sequential(nn.Linear(12, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 2))
swa = AveragedModel(net)
opt = torch.optim.SGD(net.parameters(), 0.05, momentum=0.9)
cos = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 6)
flat = SWALR(opt, swa_lr=0.02, anneal_epochs=2)
for epoch in range(10):
    net.train()
    for a, b in train:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(a), b)
        loss.backward()
        opt.step()
    if epoch >= 6:
        swa.update_parameters(net)
        flat.step()
    else:
        cos.step()
    print(epoch, loss.item(), opt.param_groups[0]["lr"])
update_bn(train, swa)
swa.eval()
with torch.no_grad():
    print(sum((swa(a).argmax(1) == b).sum().item() for a, b in test) / 100)
