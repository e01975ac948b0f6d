import copy
import torch
import torch.nn as nn

torch.manual_seed(11)
x = torch.randn(600, 6)
y = torch.sin(x[:, :1] * 2) + 0.5 * x[:, 1:2] + 0.4 * torch.randn(600, 1)
clean = torch.sin(x[:, :1] * 2) + 0.5 * x[:, 1:2]
model = nn.Sequential(nn.Linear(6, 48), nn.ReLU(), nn.Linear(48, 1))
ema = copy.deepcopy(model).requires_grad_(False)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
decay = 0.98


@torch.no_grad()
def update_ema():
    for avg, cur in zip(ema.parameters(), model.parameters()):
        avg.mul_(decay).add_(cur, alpha=1 - decay)


for epoch in range(20):
    for idx in torch.randperm(500).split(20):
        loss = nn.functional.mse_loss(model(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        update_ema()
    if epoch % 5 == 4:
        with torch.no_grad():
            raw = nn.functional.mse_loss(model(x[500:]), clean[500:]).item()
            avg = nn.functional.mse_loss(ema(x[500:]), clean[500:]).item()
        print(f"epoch {epoch + 1} raw {raw:.4f} averaged {avg:.4f}")
