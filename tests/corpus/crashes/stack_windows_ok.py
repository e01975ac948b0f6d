import torch
import torch.nn as nn


def windows(series, width, step):
    starts = range(0, len(series) - width, step)
    return [series[s : s + width] for s in starts]


torch.manual_seed(0)
series = torch.sin(torch.arange(200) / 7)
batch = torch.stack(windows(series, 24, 8))
model = nn.Sequential(nn.Linear(23, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(40):
    loss = nn.functional.mse_loss(model(batch[:, :-1]).squeeze(1), batch[:, -1])
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
