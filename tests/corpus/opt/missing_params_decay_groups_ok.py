"""Fine-tune style optimizer set-up with separate weight-decay groups."""
import torch
from torch import nn

torch.manual_seed(123)


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.mlp = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))

    def forward(self, x):
        return x + self.mlp(self.norm(x))


class Tabular(nn.Module):
    def __init__(self, d_in=10, d=32):
        super().__init__()
        self.stem = nn.Linear(d_in, d)
        self.blocks = nn.ModuleList(Block(d) for _ in range(2))
        self.final_norm = nn.LayerNorm(d)
        self.head = nn.Linear(d, 1)

    def forward(self, x):
        h = self.stem(x)
        for b in self.blocks:
            h = b(h)
        return self.head(self.final_norm(h)).squeeze(1)


def build_optimizer(model, lr=4e-3, weight_decay=0.01):
    decay, no_decay = [], []
    for name, p in model.named_parameters():
        if name.endswith("bias") or "norm" in name:
            no_decay.append(p)
        else:
            decay.append(p)
    groups = [
        {"params": decay, "weight_decay": weight_decay},
        {"params": no_decay, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=lr)


x = torch.randn(600, 10)
y = x[:, 0] * x[:, 1] + torch.sin(2 * x[:, 2]) + 2.0
net = Tabular()
optim = build_optimizer(net)
for step in range(80):
    idx = torch.randint(0, 600, (64,))
    loss = nn.functional.smooth_l1_loss(net(x[idx]), y[idx])
    optim.zero_grad()
    loss.backward()
    optim.step()
    if step % 16 == 0:
        print(f"{step:>4} {loss.item():.5f}")
