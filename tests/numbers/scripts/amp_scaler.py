"""A gradient scaler (off on a CPU) and a scheduler that prints its rate."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(330, 12)
y = (x[:, :4].sum(1) > 0).long() + (x[:, 4] > 0).long()
train_set, test_set = TensorDataset(x[:250], y[:250]), TensorDataset(x[250:], y[250:])
model = nn.Linear(12, 3)
opt = torch.optim.SGD(model.parameters(), 0.1)
sched = torch.optim.lr_scheduler.StepLR(opt, 2, 0.5)
scaler = torch.amp.GradScaler("cpu", enabled=False)
for epoch in range(4):
    for xb, yb in DataLoader(train_set, 50):
        opt.zero_grad()
        loss = F.cross_entropy(model(xb), yb)
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
    print(f"[{epoch + 1}/4] train_loss: {loss.item():.6f} lr: {sched.get_last_lr()[0]:.3e}")
    sched.step()
