import math

import torch
from torch import nn
import torch.nn.functional as F


class LoRALinear(nn.Module):
    """A frozen linear layer plus a trainable low-rank update."""

    def __init__(self, base: nn.Linear, rank: int = 4, alpha: float = 8.0):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad_(False)
        self.lora_a = nn.Parameter(torch.empty(rank, base.in_features))
        self.lora_b = nn.Parameter(torch.empty(base.out_features, rank))
        self.scale = alpha / rank
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.kaiming_uniform_(self.lora_a, a=math.sqrt(5))
        nn.init.zeros_(self.lora_b)

    def forward(self, x):
        return self.base(x) + F.linear(F.linear(x, self.lora_a), self.lora_b) * self.scale


def train(model, x, y, params, steps, lr):
    optimizer = torch.optim.AdamW(params, lr=lr, weight_decay=0.0)
    for step in range(steps):
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(0)
    x = torch.randn(512, 12)
    mix = torch.randn(12, 3)
    y_source = torch.sin(x @ mix * 0.5)
    y_target = torch.sin(x @ (mix + 0.4 * torch.randn(12, 1) @ torch.randn(1, 3)) * 0.5)

    net = nn.Sequential(nn.Linear(12, 64), nn.Tanh(), nn.Linear(64, 3))
    print("pretraining loss", train(net, x, y_source, net.parameters(), 300, 5e-3))

    net[0] = LoRALinear(net[0])
    net[2] = LoRALinear(net[2])
    params = [p for p in net.parameters() if p.requires_grad]
    with torch.no_grad():
        before = F.mse_loss(net(x), y_target).item()
    after = train(net, x, y_target, params, 300, 5e-3)
    print(f"adapting {sum(p.numel() for p in params)} values: {before:.4f} -> {after:.4f}")


if __name__ == "__main__":
    main()
