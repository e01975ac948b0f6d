"""AverageMeter lines: current and mean, and a summary with a star."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(330, 12)
y = (x[:, :4].sum(1) > 0).long() + (x[:, 4] > 0).long()
train_set, test_set = TensorDataset(x[:250], y[:250]), TensorDataset(x[250:], y[250:])
train_loader, val_loader = DataLoader(train_set, 32), DataLoader(test_set, 16)
model = nn.Linear(12, 3)
criterion, optimizer = nn.CrossEntropyLoss(), torch.optim.SGD(model.parameters(), 0.1)


class Meter:
    def __init__(self, name, fmt):
        self.name, self.fmt, self.sum, self.count, self.val = name, fmt, 0.0, 0, 0.0

    def update(self, val, n=1):
        self.val, self.sum, self.count = val, self.sum + val * n, self.count + n

    def __str__(self):
        return f"{self.name} {self.val:{self.fmt}} ({self.sum / self.count:{self.fmt}})"


def accuracy(output, target, topk=(1, 2)):
    pred = output.topk(max(topk), 1, True, True)[1].t()
    correct = pred.eq(target.view(1, -1).expand_as(pred))
    return [correct[:k].reshape(-1).float().sum(0).mul_(100.0 / target.size(0)) for k in topk]


for epoch in range(2):
    losses, top1, top2 = Meter("Loss", ".4e"), Meter("Acc@1", "6.2f"), Meter("Acc@2", "6.2f")
    for i, (images, target) in enumerate(train_loader):
        output = model(images)
        loss = criterion(output, target)
        acc1, acc2 = accuracy(output, target)
        losses.update(loss.item(), images.size(0))
        top1.update(acc1.item(), images.size(0))
        top2.update(acc2.item(), images.size(0))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if i % 3 == 0:
            print("\t".join([f"Epoch: [{epoch}][{i:2d}/{len(train_loader)}]", str(losses), str(top1), str(top2)]))
    top1 = Meter("Acc@1", "6.3f")
    with torch.no_grad():
        for i, (images, target) in enumerate(val_loader):
            top1.update(accuracy(model(images), target)[0].item(), images.size(0))
    print(f" *   Acc@1 {top1.sum / top1.count:.3f}")
