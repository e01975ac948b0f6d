"""Sanity check: can the model drive the loss on one batch to zero?"""
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
loader = DataLoader(TensorDataset(torch.tensor(d.images / 16.0).float().unsqueeze(1), torch.tensor(d.target)), batch_size=32, shuffle=True)
model = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.Flatten(),
    nn.Linear(16 * 16, 10),
)
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
fixed_batch = next(iter(loader))

for step in range(50):
    images, labels = fixed_batch
    loss = nn.functional.cross_entropy(model(images), labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 0:
        print(f"step {step} loss {loss.item():.6f}")
print("overfits" if loss.item() < 0.05 else "does not overfit", f"{loss.item():.6f}")
