import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

np.random.seed(30)
torch.manual_seed(30)


def draw_cells(n, size=20):
    yy, xx = np.mgrid[:size, :size]
    images, masks = [], []
    for _ in range(n):
        mask = np.zeros((size, size), dtype=np.uint8)
        for _ in range(2):
            cy, cx, r = np.random.randint(3, 17), np.random.randint(3, 17), np.random.randint(2, 5)
            mask[(yy - cy) ** 2 + (xx - cx) ** 2 <= r * r] = 255
        img = 90 + 80 * (mask > 0) + np.random.normal(0, 25, mask.shape)
        images.append(img.clip(0, 255).astype(np.uint8))
        masks.append(mask)
    return images, masks


class NucleiDataset(Dataset):
    def __init__(self, images, masks):
        self.images, self.masks = images, masks

    def __len__(self):
        return len(self.images)

    def __getitem__(self, idx):
        img = torch.from_numpy(self.images[idx]).float().unsqueeze(0) / 255.0
        mask = torch.from_numpy(self.masks[idx]).float().unsqueeze(0) / 255.0
        return img - 0.5, mask


images, masks = draw_cells(300)
train_loader = DataLoader(NucleiDataset(images[:240], masks[:240]), batch_size=12, shuffle=True)
val_loader = DataLoader(NucleiDataset(images[240:], masks[240:]), batch_size=30)
net = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
    nn.Conv2d(16, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
    nn.Conv2d(16, 1, 1),
)
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(5):
    net.train()
    running = 0.0
    for img, mask in train_loader:
        optimizer.zero_grad()
        loss = criterion(net(img), mask)
        loss.backward()
        optimizer.step()
        running += loss.item()
    net.eval()
    inter = union = 0
    with torch.no_grad():
        for img, mask in val_loader:
            p, t = net(img) > 0, mask > 0
            inter += (p & t).sum().item()
            union += (p | t).sum().item()
    print(f"epoch {epoch}: loss {running / len(train_loader):.4f} IoU {inter / union:.3f}")
