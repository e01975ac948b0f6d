import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)
stages = nn.ModuleList([
    nn.Sequential(nn.Linear(10, 32), nn.ReLU()),
    nn.Sequential(nn.Linear(32, 32), nn.ReLU()),
    nn.Linear(32, 4),
])
w = torch.randn(10, 4)


def forward(x):
    for s in stages:
        x = s(x)
    return x


stages.requires_grad_(False)
for phase, stage in enumerate(reversed(stages)):
    stage.requires_grad_(True)
    trainable = [p for p in stages.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(trainable, lr=1e-2 / (phase + 1))      # a fresh optimizer for every phase
    for step in range(25):
        x = torch.randn(64, 10)
        y = (x @ w).argmax(1)
        loss = F.cross_entropy(forward(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"phase {phase} trainable tensors {len(trainable)} loss {loss.item():.5f}")
