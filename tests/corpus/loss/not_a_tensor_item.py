"""A small regression of a noisy line. The running mean wants a number, and so does the loop."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(3)
x = torch.linspace(-1, 1, 64).unsqueeze(1)
y = 2 * x + 0.1 * torch.randn(64, 1)
model = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def loss_of(prediction, target):
    loss = F.mse_loss(prediction, target)
    return loss


mean = 0.0
for epoch in range(20):
    optimizer.zero_grad()
    loss = loss_of(model(x), y).item()
    mean += loss / 20
    loss.backward()
    optimizer.step()
print(f"mean loss {mean:.4f}")
