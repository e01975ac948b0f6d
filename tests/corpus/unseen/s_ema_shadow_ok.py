import torch
import torch.nn as nn
from sklearn.datasets import load_diabetes

torch.manual_seed(1)


class EMA:
    def __init__(self, model, decay):
        self.model = model
        self.decay = decay
        self.shadow = {}
        self.backup = {}
        for name, param in model.named_parameters():
            if param.requires_grad:
                self.shadow[name] = param.data.clone()

    @torch.no_grad()
    def update(self):
        for name, param in self.model.named_parameters():
            self.shadow[name].mul_(self.decay).add_(param.data * (1 - self.decay))

    def apply_shadow(self):
        for name, param in self.model.named_parameters():
            self.backup[name] = param.data.clone()
            param.data.copy_(self.shadow[name])

    def restore(self):
        for name, param in self.model.named_parameters():
            param.data.copy_(self.backup[name])
        self.backup = {}


raw = load_diabetes()
X = torch.tensor(raw.data * 20, dtype=torch.float32)
y = torch.tensor((raw.target - 152.0) / 77.0, dtype=torch.float32).unsqueeze(1)
Xtr, ytr, Xte, yte = X[:342], y[:342], X[342:], y[342:]
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.15)
ema = EMA(model, 0.98)
loss_fn = nn.MSELoss()
raw_hist, ema_hist = [], []

for step in range(400):
    idx = torch.randint(0, 342, (4,))
    opt.zero_grad()
    loss = loss_fn(model(Xtr[idx]), ytr[idx])
    loss.backward()
    opt.step()
    ema.update()
    if step % 20 == 19:
        with torch.no_grad():
            raw_hist.append(loss_fn(model(Xte), yte).item())
            ema.apply_shadow()
            ema_hist.append(loss_fn(model(Xte), yte).item())
            ema.restore()
        if step % 100 == 99:
            print(f"step {step + 1} raw {raw_hist[-1]:.4f} ema {ema_hist[-1]:.4f}")
print(f"mean of the last ten: raw {sum(raw_hist[-10:]) / 10:.4f} ema {sum(ema_hist[-10:]) / 10:.4f}")
