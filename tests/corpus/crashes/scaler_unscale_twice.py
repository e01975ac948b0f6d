import torch
import torch.nn as nn


def clip(scaler, opt, model, limit=1.0):
    scaler.unscale_(opt)
    nn.utils.clip_grad_norm_(model.parameters(), limit)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.05)
scaler = torch.amp.GradScaler("cpu")
ACCUMULATE = 4
for step in range(40):
    x = torch.randn(16, 8)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = model(x)
    loss = (out.float() - x.mean(1, keepdim=True)).pow(2).mean() / ACCUMULATE
    scaler.scale(loss).backward()
    clip(scaler, opt, model)
    if (step + 1) % ACCUMULATE == 0:
        scaler.step(opt)
        scaler.update()
        opt.zero_grad()
print(loss.item())
