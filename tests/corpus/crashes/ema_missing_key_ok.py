import torch
import torch.nn as nn


class Ema:
    def __init__(self, model, decay=0.9):
        self.decay = decay
        self.shadow = {k: v.clone() for k, v in model.state_dict().items()}

    def update(self, model):
        for name, value in model.state_dict().items():
            self.shadow[name] = self.decay * self.shadow[name] + (1 - self.decay) * value


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
ema = Ema(model)
ema = Ema(model)
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
x = torch.randn(60, 4)
for step in range(5):
    loss = nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
    opt.zero_grad()
    loss.backward()
    opt.step()
    ema.update(model)
print(loss.item())
