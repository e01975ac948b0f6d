import math
import torch
import torch.nn as nn

torch.manual_seed(0)
TOTAL, WARMUP = 80, 12


def schedule(step):
    if step < WARMUP:
        return step / WARMUP            # zero at the very first update
    progress = (step - WARMUP) / (TOTAL - WARMUP)
    return 0.5 * (1 + math.cos(math.pi * progress))


model = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.05)
sched = torch.optim.lr_scheduler.LambdaLR(opt, schedule)
x = torch.rand(500, 3) * 2 - 1
y = torch.sin(4 * x[:, :1]) * x[:, 1:2] + x[:, 2:3] ** 2
for step in range(TOTAL):
    idx = torch.randint(0, 500, (64,))
    loss = nn.functional.mse_loss(model(x[idx]), y[idx])
    opt.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    opt.step()
    sched.step()
    if step % 10 == 0:
        print(f"{step:2d} loss {loss.item():.5f} norm {norm.item():.4f} lr {sched.get_last_lr()[0]:.5f}")
