import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


def load():
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32) / 16
    return TensorDataset(images, torch.tensor(digits.target))


def network():
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 16, 10)
    )


torch.manual_seed(0)
model = network()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(2):
    for x, y in DataLoader(load(), batch_size=64, shuffle=True):
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
