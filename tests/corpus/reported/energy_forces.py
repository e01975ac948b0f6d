"""Fit a small potential on energies and forces of random particle pairs."""
import torch
from torch import nn

torch.manual_seed(3)


def reference(pos):
    r = (pos[:, 0] - pos[:, 1]).norm(dim=1)
    return (1 - torch.exp(-1.5 * (r - 1.0))) ** 2


def sample(count):
    pos = torch.randn(count, 2, 3) * 0.7
    pos.requires_grad_(True)
    energy = reference(pos)
    force = -torch.autograd.grad(energy.sum(), pos)[0]
    return pos.detach(), energy.detach(), force


class Potential(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1))

    def forward(self, pos):
        r = (pos[:, 0] - pos[:, 1]).norm(dim=1, keepdim=True)
        return self.net(r).squeeze(1)


def forces_of(model, pos):
    pos = pos.clone().requires_grad_(True)
    energy = model(pos)
    grad = torch.autograd.grad(energy.sum(), pos, retain_graph=True)[0]
    return energy, -grad


model = Potential()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
pos, energy, force = sample(256)
test_pos, test_energy, test_force = sample(256)

for step in range(400):
    pred_energy, pred_force = forces_of(model, pos)
    energy_loss = (pred_energy - energy).pow(2).mean()
    force_loss = (pred_force - force).pow(2).mean()
    loss = 0.01 * energy_loss + force_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 99:
        print(f"step {step + 1} energy {energy_loss.item():.4f} force {force_loss.item():.4f}")

pred_energy, pred_force = forces_of(model, test_pos)
print("test force MAE", (pred_force - test_force).abs().mean().item())
