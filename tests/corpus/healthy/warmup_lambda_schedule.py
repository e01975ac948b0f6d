import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)
x_all = torch.randn(192, 8)
y_all = (x_all[:, 0] + 0.5 * x_all[:, 1] > 0).long()

model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 2))
opt = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=0.01)
total = 3 * 6
warm = 4


def factor(step):
    return min(1.0, (step + 1) / warm) * max(0.1, 1 - step / total)


sched = torch.optim.lr_scheduler.LambdaLR(opt, factor)
for epoch in range(3):
    for rows in torch.randperm(192).split(32):
        loss = F.cross_entropy(model(x_all[rows]), y_all[rows])
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
print(loss.item(), sched.get_last_lr())
