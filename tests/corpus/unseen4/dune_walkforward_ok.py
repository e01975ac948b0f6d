import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(20)
rng = np.random.default_rng(20)
t = np.arange(900)
series = 10 + 0.01 * t + 2 * np.sin(2 * np.pi * t / 24) + 0.3 * rng.normal(size=900)
LAG = 24


def windows(z):
    x = np.lib.stride_tricks.sliding_window_view(z, LAG)[:-1]
    return torch.tensor(x.copy(), dtype=torch.float32), torch.tensor(z[LAG:, None], dtype=torch.float32)


scores = []
for end in (500, 600, 700):
    past, future = series[:end], series[end - LAG:end + 100]
    mean, std = past.mean(), past.std()
    xt, yt = windows((past - mean) / std)
    xf, yf = windows((future - mean) / std)
    net = nn.Sequential(nn.Linear(LAG, 32), nn.ReLU(), nn.Linear(32, 1))
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    for epoch in range(15):
        for idx in torch.randperm(len(xt)).split(32):
            loss = nn.functional.l1_loss(net(xt[idx]), yt[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
    with torch.no_grad():
        mae = (net(xf) - yf).abs().mean().item() * std
    naive = np.abs(series[end:end + 100] - series[end - 1:end + 99]).mean()
    scores.append(mae)
    print(f"trained up to {end}: mae {mae:.3f} naive {naive:.3f}")
print("average mae", np.mean(scores))
