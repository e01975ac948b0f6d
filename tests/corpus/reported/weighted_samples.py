"""Regression with a confidence weight per sample."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(20)
rng = np.random.default_rng(20)

inputs = rng.uniform(-2, 2, size=(640, 2)).astype(np.float32)
confidence = rng.uniform(0.2, 1.0, size=(640, 1)).astype(np.float32)
clean = np.sin(2 * inputs[:, :1]) + 0.5 * inputs[:, 1:]
targets = (clean + (1 - confidence) * rng.normal(0, 0.4, size=clean.shape)).astype(np.float32)

dataset = TensorDataset(torch.from_numpy(inputs), torch.from_numpy(targets), torch.from_numpy(confidence))
loader = DataLoader(dataset, batch_size=64, shuffle=True)

model = nn.Sequential(
    nn.Linear(2, 40),
    nn.Tanh(),
    nn.Linear(40, 40),
    nn.Tanh(),
    nn.Linear(40, 1),
)
criterion = nn.MSELoss(reduction="none")
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=5, gamma=0.5)

for epoch in range(10):
    for x, y, weight in loader:
        optimizer.zero_grad()
        losses = criterion(model(x), y)
        loss = losses * weight
        loss.backward()
        optimizer.step()
    scheduler.step()
    with torch.no_grad():
        error = (model(dataset.tensors[0]) - torch.tensor(clean, dtype=torch.float32)).abs().mean()
    print(f"epoch {epoch:2d} mean absolute error {error.item():.4f}")
