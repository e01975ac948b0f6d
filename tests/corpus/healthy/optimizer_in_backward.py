"""Each parameter has its own optimizer that steps as soon as its gradient is ready."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
optimizers = {p: torch.optim.Adam([p], lr=5e-3) for p in model.parameters()}


def step_and_free(p):
    optimizers[p].step()
    optimizers[p].zero_grad()


for p in model.parameters():
    p.register_post_accumulate_grad_hook(step_and_free)

x = torch.randn(400, 4)
y = (x[:, 0] * x[:, 1]).unsqueeze(1) + x[:, 2:3]
for epoch in range(8):
    total = 0.0
    for idx in torch.randperm(400).split(50):
        loss = nn.functional.mse_loss(model(x[idx]), y[idx])
        loss.backward()
        total += loss.item()
    print(f"epoch {epoch} loss {total / 8:.5f}")
