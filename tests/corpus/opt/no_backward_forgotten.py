"""Two moons, a small classifier: the loss is printed, and stays where it is."""
import torch
from torch import nn

torch.manual_seed(0)
angle = torch.rand(200) * 3.1416
side = torch.arange(200) % 2
points = torch.stack([torch.cos(angle) * (1 - 2 * side) + side, torch.sin(angle) * (1 - 2 * side)], dim=1)
points = points + 0.1 * torch.randn_like(points)
model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()

for step in range(30):
    optimizer.zero_grad()
    loss = criterion(model(points), side)
    if step % 10 == 0:
        print(step, f"{loss.item():.4f}")
    optimizer.step()
