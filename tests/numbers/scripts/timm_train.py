"""timm's train.py: padded progress lines by a logger, with current and mean in brackets."""

import logging
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(message)s")
_logger = logging.getLogger("train")
torch.manual_seed(0)
x = torch.randn(160, 10)
y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
loader_train = DataLoader(TensorDataset(x[:128], y[:128]), 16)
loader_eval = DataLoader(TensorDataset(x[128:], y[128:]), 16)
model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
loss_fn = nn.CrossEntropyLoss()


class AverageMeter:
    def __init__(self):
        self.val = self.avg = self.sum = self.count = 0

    def update(self, val, n=1):
        self.val, self.sum, self.count = val, self.sum + val * n, self.count + n
        self.avg = self.sum / self.count


def train_one_epoch(epoch):
    losses_m = AverageMeter()
    model.train()
    last = len(loader_train) - 1
    for batch_idx, (input, target) in enumerate(loader_train):
        loss = loss_fn(model(input), target)
        losses_m.update(loss.item(), input.size(0))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if batch_idx % 4 == 0 or batch_idx == last:
            _logger.info(
                f"Train: {epoch} [{batch_idx:>4d}/{last + 1} ({100.0 * batch_idx / last:>3.0f}%)]  "
                f"Loss: {losses_m.val:#.3g} ({losses_m.avg:#.3g})  LR: {optimizer.param_groups[0]['lr']:.3e}"
            )


@torch.no_grad()
def validate():
    losses_m, top1_m = AverageMeter(), AverageMeter()
    model.eval()
    last = len(loader_eval) - 1
    for batch_idx, (input, target) in enumerate(loader_eval):
        output = model(input)
        losses_m.update(loss_fn(output, target).item(), input.size(0))
        top1_m.update((output.argmax(1) == target).float().mean().item() * 100, input.size(0))
        _logger.info(
            f"Test: [{batch_idx:>4d}/{last}]  Loss: {losses_m.val:>7.3f} ({losses_m.avg:>6.3f})  "
            f"Acc@1: {top1_m.val:>7.3f} ({top1_m.avg:>7.3f})"
        )
    return top1_m.avg


best = 0.0
for epoch in range(2):
    train_one_epoch(epoch)
    best = max(best, validate())
_logger.info("*** Best metric: %.4f", best)
