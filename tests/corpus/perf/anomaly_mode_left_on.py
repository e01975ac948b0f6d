import torch
import torch.nn as nn
from sklearn.datasets import make_swiss_roll

torch.manual_seed(0)
torch.autograd.set_detect_anomaly(True)

points, colour = make_swiss_roll(n_samples=600, noise=0.05, random_state=0)
points = torch.tensor(points, dtype=torch.float32) / 10
colour = torch.tensor(colour, dtype=torch.float32).unsqueeze(1) / 10 - 1
train_x, train_y, val_x, val_y = points[:480], colour[:480], points[480:], colour[480:]

model = nn.Sequential(nn.Linear(3, 40), nn.ReLU(), nn.Linear(40, 40), nn.ReLU(), nn.Linear(40, 1))
opt = torch.optim.Adam(model.parameters(), lr=4e-3)

step = 0
for epoch in range(16):
    for rows in torch.randperm(480).split(48):
        opt.zero_grad()
        loss = nn.functional.mse_loss(model(train_x[rows]), train_y[rows])
        loss.backward()
        opt.step()
        step += 1
    if epoch % 4 == 3:
        with torch.no_grad():
            val = nn.functional.mse_loss(model(val_x), val_y).item()
        print(f"step {step} train {loss.item():.6f} val {val:.6f}")
