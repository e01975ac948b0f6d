"""Parameter-efficient fine-tuning of a frozen encoder with low-rank adapters."""
import math

import torch
import torch.nn as nn
from sklearn.datasets import load_digits


class LoRA(nn.Module):
    def __init__(self, base: nn.Linear, r: int = 4, alpha: int = 8):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad_(False)
        self.lora_A = nn.Parameter(torch.empty(r, base.in_features))
        self.lora_B = nn.Parameter(torch.empty(base.out_features, r))
        self.scaling = alpha / r
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
        nn.init.zeros_(self.lora_B)

    def forward(self, x):
        delta = nn.functional.linear(nn.functional.linear(x, self.lora_A), self.lora_B)
        return self.base(x) + self.scaling * delta


def train(model, x, y, steps, lr):
    params = [p for p in model.parameters() if p.requires_grad]
    opt = torch.optim.AdamW(params, lr=lr, weight_decay=0.0)
    for step in range(steps):
        idx = torch.randint(0, len(x), (64,))
        loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 100 == 0:
            print(f"  step {step} loss {loss.item():.4f} trainable {sum(p.numel() for p in params)}")


@torch.no_grad()
def accuracy(model, x, y):
    return (model(x).argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(29)
    digits = load_digits()
    x = torch.tensor(digits.data / 16.0, dtype=torch.float32)
    y = torch.tensor(digits.target)
    shifted = 1.0 - x.view(-1, 8, 8).flip(-1).reshape(-1, 64)
    tr, te = slice(0, 1300), slice(1300, None)
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 10))
    print("pretraining")
    train(model, x[tr], y[tr], 300, 3e-3)
    print("source acc", accuracy(model, x[te], y[te]), "shifted acc", accuracy(model, shifted[te], y[te]))
    for i in (0, 2, 4):
        model[i] = LoRA(model[i])
    print("adapting")
    train(model, shifted[tr], y[tr], 400, 1e-2)
    print("shifted acc after adaptation", accuracy(model, shifted[te], y[te]))


if __name__ == "__main__":
    main()
