import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2)
shared = nn.Sequential(nn.Linear(6, 32), nn.ReLU())
head_cls, head_reg = nn.Linear(32, 3), nn.Linear(32, 1)
opt = torch.optim.SGD([*shared.parameters(), *head_cls.parameters(), *head_reg.parameters()], lr=0.05, momentum=0.9)

w = torch.randn(6, 3)


def batch(n):
    x = torch.randn(n, 6)
    return x, (x @ w).argmax(1), x[:, :1] - x[:, 1:2]


for step in range(80):
    x, y_cls, y_reg = batch(64)
    opt.zero_grad()
    cls_loss = F.cross_entropy(head_cls(shared(x)), y_cls)
    cls_loss.backward()
    reg_loss = F.mse_loss(head_reg(shared(x)), y_reg)
    (0.5 * reg_loss).backward()
    opt.step()
    if step % 16 == 0:
        print(f"{step:3d} cls {cls_loss.item():.5f} reg {reg_loss.item():.5f}")
