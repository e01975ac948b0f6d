import torch
from torch import nn, optim


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.branch = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU(), nn.Linear(width, width))

    def forward(self, x):
        return x + self.branch(x)


class ResMLP(nn.Module):
    def __init__(self, inputs, width, depth, outputs):
        super().__init__()
        self.stem = nn.Linear(inputs, width)
        self.blocks = nn.Sequential(*[Residual(width) for _ in range(depth)])
        self.head = nn.Linear(width, outputs)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)))


def spiral(count, generator):
    t = torch.rand(count, generator=generator) * 6 + 0.5
    side = torch.randint(0, 2, (count,), generator=generator)
    angle = t + side * torch.pi
    x = torch.stack([t * angle.cos(), t * angle.sin()], dim=1) / 6
    return x + 0.02 * torch.randn(count, 2, generator=generator), side


torch.manual_seed(49)
generator = torch.Generator().manual_seed(49)
model = ResMLP(2, 24, 2, 2)
optimizer = optim.AdamW(model.parameters(), lr=5e-3)
for step in range(200):
    x, y = spiral(128, generator)
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 49:
        print(f"step {step + 1}: {loss.item():.4f}")
