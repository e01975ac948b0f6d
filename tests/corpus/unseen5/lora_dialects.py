"""LoRA adaptation of a small MLP from one digits dialect to another."""
import torch
import torch.nn as nn
from sklearn.datasets import load_digits

torch.manual_seed(1)


class LoRALinear(nn.Module):
    def __init__(self, base, rank=4, alpha=8.0):
        super().__init__()
        self.base = base
        self.lora_A = nn.Parameter(torch.randn(rank, base.in_features) * 0.05)
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.lora_A.t() @ self.lora_B.t())


def inject(module, rank):
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, LoRALinear(child, rank))
        else:
            inject(child, rank)


def fit(model, x, y, params, steps, lr):
    opt = torch.optim.Adam(params, lr=lr)
    for _ in range(steps):
        idx = torch.randint(0, len(x), (64,))
        loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()


digits = load_digits()
x = torch.tensor(digits.data, dtype=torch.float32) / 16
y = torch.tensor(digits.target)
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
fit(model, x, y, model.parameters(), 200, 2e-3)

x_new = x.view(-1, 8, 8).transpose(1, 2).reshape(-1, 64)
inject(model, rank=4)
for p in model.parameters():
    p.requires_grad = False
adapters = [p for n, p in model.named_parameters() if "lora_" in n]
print("adapter tensors:", len(adapters))
fit(model, x_new, y, adapters, 200, 5e-3)
with torch.no_grad():
    print("dialect accuracy", (model(x_new).argmax(1) == y).float().mean().item())
