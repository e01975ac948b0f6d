import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(0)
torch.manual_seed(0)

# several lab measurements per patient, many of them missing
features = rng.normal(size=(400, 6)).astype(np.float32)
labs = features @ rng.normal(size=(6, 4)).astype(np.float32) + 0.1 * rng.normal(size=(400, 4)).astype(np.float32)
labs[rng.random(labs.shape) < 0.4] = np.nan

loader = DataLoader(TensorDataset(torch.from_numpy(features), torch.from_numpy(labs)), batch_size=40, shuffle=True)
model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 4))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)


def masked_mse(pred, target):
    known = ~torch.isnan(target)
    diff = pred - torch.nan_to_num(target, nan=0.0)
    return (diff.square() * known).sum() / known.sum().clamp(min=1)


for epoch in range(8):
    losses = []
    for x, y in loader:
        loss = masked_mse(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    print(f"epoch {epoch}: {np.mean(losses):.5f}")
