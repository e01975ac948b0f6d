import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(0)


class ModelEMA:
    def __init__(self, model, decay=0.95):
        self.module = copy.deepcopy(model).eval()
        self.decay = decay
        for p in self.module.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for ema_p, p in zip(self.module.parameters(), model.parameters()):
            ema_p.mul_(self.decay).add_(p, alpha=1 - self.decay)
        for ema_b, b in zip(self.module.buffers(), model.buffers()):
            ema_b.copy_(b)


def conv_block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(), nn.MaxPool2d(2))


def build():
    return nn.Sequential(conv_block(1, 16), conv_block(16, 32), nn.Flatten(), nn.Linear(128, 10))


@torch.no_grad()
def accuracy(net, x, y):
    return (net(x).argmax(1) == y).float().mean().item()


digits = load_digits()
x = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1)
y = torch.tensor(digits.target)
x_train, y_train, x_test, y_test = x[:1400], y[:1400], x[1400:], y[1400:]

model = build()
ema = ModelEMA(model)
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
for epoch in range(6):
    model.train()
    for idx in torch.randperm(1400).split(50):
        loss = F.cross_entropy(model(x_train[idx]), y_train[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        ema.update(model)
    model.eval()
    print(f"epoch {epoch} model {accuracy(model, x_test, y_test):.4f} ema {accuracy(ema.module, x_test, y_test):.4f}")
