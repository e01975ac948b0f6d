"""LoRA by hand: a frozen network gets low-rank updates for a new task."""
import math

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base, rank=4, alpha=8):
        super().__init__()
        self.base = base
        self.base.requires_grad_(False)
        self.lora_a = nn.Parameter(torch.zeros(rank, base.in_features))
        self.lora_b = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scale = alpha / rank
        self.reset()

    def reset(self):
        nn.init.kaiming_uniform_(self.lora_a, a=math.sqrt(5))
        nn.init.zeros_(self.lora_b)

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.lora_a.T @ self.lora_b.T)


def make_base():
    return nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, 10))


def inject(model, rank):
    for name, module in list(model.named_children()):
        if isinstance(module, nn.Linear):
            setattr(model, name, LoRALinear(module, rank))
    return model


def run(model, x, y, epochs, lr, label):
    params = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(params, lr=lr, weight_decay=0.0)
    for epoch in range(epochs):
        total = 0.0
        for rows in torch.randperm(len(x)).split(64):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x[rows]), y[rows])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        print(f"{label} {epoch}: {total / len(x):.4f}")


def main():
    torch.manual_seed(0)
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y)
    base = make_base()
    run(base, x[:900], y[:900], 5, 3e-3, "pretrain")
    rotated = x[900:].view(-1, 8, 8).rot90(1, dims=(1, 2)).reshape(-1, 64)
    tuned = inject(base, rank=4)
    run(tuned, rotated, y[900:], 8, 5e-3, "lora")
    with torch.no_grad():
        accuracy = (tuned(rotated).argmax(1) == y[900:]).float().mean()
    print(f"adapted accuracy {accuracy:.4f}")


if __name__ == "__main__":
    main()
