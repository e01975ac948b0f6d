"""Learned simulator that rolls reservoir levels forward in time."""
import torch
import torch.nn as nn

torch.manual_seed(40)
N_RES, HORIZON = 5, 12


def true_step(level, inflow):
    spill = torch.relu(level - 1.0)
    return 0.9 * level + 0.3 * inflow - 0.5 * spill + 0.05 * level.roll(1, dims=-1)


def make_data(n):
    start = torch.rand(n, N_RES)
    inflow = torch.rand(n, HORIZON, N_RES)
    out, level = [], start
    for t in range(HORIZON):
        level = true_step(level, inflow[:, t])
        out.append(level)
    return start, inflow, torch.stack(out, 1)


class Simulator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2 * N_RES, 32), nn.Tanh(), nn.Linear(32, 2 * N_RES))

    def forward(self, start, inflow):
        levels = [start]
        for t in range(HORIZON):
            prev = levels[-1]
            gain, add = self.net(torch.cat([prev, inflow[:, t]], -1)).chunk(2, dim=-1)
            levels.append(prev * (1 + gain) + add)
        return torch.stack(levels[1:], 1)


start, inflow, target = make_data(256)
sim = Simulator()
opt = torch.optim.Adam(sim.parameters(), lr=3e-3)
for epoch in range(25):
    losses = []
    for idx in torch.randperm(256).split(64):
        pred = sim(start[idx], inflow[idx])
        loss = nn.functional.mse_loss(pred, target[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    if epoch % 8 == 0:
        print(f"epoch {epoch} mse {sum(losses) / len(losses):.5f}")
s, i, tgt = make_data(64)
with torch.no_grad():
    print("rollout mse", nn.functional.mse_loss(sim(s, i), tgt).item())
