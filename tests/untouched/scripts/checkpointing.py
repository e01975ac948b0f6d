"""Activation checkpointing, reentrant and not, with dropout: the recomputation draws the same numbers."""
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

torch.manual_seed(0)
count = [0]


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.drop = nn.Linear(8, 8), nn.Dropout(0.3)

    def forward(self, x):
        count[0] += 1
        return x + self.drop(torch.relu(self.fc(x)))


blocks = nn.ModuleList(Block() for _ in range(3))
optimizer = torch.optim.SGD(blocks.parameters(), lr=0.05)
for step in range(5):
    h = torch.randn(4, 8, requires_grad=True)
    h = checkpoint(blocks[0], h, use_reentrant=False)
    h = checkpoint(blocks[1], h, use_reentrant=True)
    h = checkpoint_sequential(nn.Sequential(blocks[2], nn.Identity()), 2, h, use_reentrant=False)
    loss = h.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), count, torch.rand(1).item())
