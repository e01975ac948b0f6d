import copy
import torch
from torch import nn


class EMA:
    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = copy.deepcopy(model).eval()
        for p in self.shadow.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for s, p in zip(self.shadow.parameters(), model.parameters()):
            s.lerp_(p, 1 - self.decay)
        for s, b in zip(self.shadow.buffers(), model.buffers()):
            s.copy_(b)


torch.manual_seed(6)
x = torch.rand(800, 3) * 2 - 1
y = torch.sin(2 * x[:, :1]) * x[:, 1:2] + 0.2 * torch.randn(800, 1)
model = nn.Sequential(nn.Linear(3, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 1))
ema = EMA(model, 0.95)
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(12):
    model.train()
    for idx in torch.randperm(600).split(50):
        opt.zero_grad()
        loss = nn.functional.mse_loss(model(x[idx]), y[idx])
        loss.backward()
        opt.step()
        ema.update(model)
    model.eval()
    with torch.no_grad():
        raw = nn.functional.mse_loss(model(x[600:]), y[600:])
        avg = nn.functional.mse_loss(ema.shadow(x[600:]), y[600:])
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1} raw {raw:.4f} ema {avg:.4f}")
