import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

rng = np.random.default_rng(0)
torch.manual_seed(0)


def render(n):
    """Dark or bright squares on a grey wall; the class is the brightness of the square and its place."""
    imgs = rng.integers(90, 130, (n, 16, 16), dtype=np.uint8)
    labels = rng.integers(0, 4, n)
    for i, k in enumerate(labels):
        r, c = rng.integers(1, 9, 2)
        value = 230 if k % 2 else 35
        if k < 2:
            imgs[i, r:r + 6, c:c + 6] = value + rng.integers(0, 20, (6, 6))
        else:
            imgs[i, r:r + 3, c:c + 6] = value + rng.integers(0, 20, (3, 6))
    return imgs, labels


class Squares(Dataset):
    def __init__(self, imgs, labels, train):
        self.imgs, self.labels, self.train = imgs, labels, train

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        img = self.imgs[i]
        if self.train:
            shift = rng.integers(0, 100)
            img = np.clip(img.astype(np.int32) + shift, 0, 255)
        img = torch.from_numpy(np.ascontiguousarray(img)).float().unsqueeze(0) / 255
        return img, int(self.labels[i])


train_loader = DataLoader(Squares(*render(700), train=True), batch_size=35, shuffle=True)
test_loader = DataLoader(Squares(*render(200), train=False), batch_size=100)
model = nn.Sequential(
    nn.Conv2d(1, 12, 3), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(12, 16, 3), nn.ReLU(), nn.AdaptiveMaxPool2d(2), nn.Flatten(), nn.Linear(64, 4))
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(16):
    model.train()
    for x, y in train_loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        acc = sum((model(x).argmax(1) == y).sum().item() for x, y in test_loader) / 200
    print(f"epoch {epoch} train loss {loss.item():.4f} test acc {acc:.3f}")
