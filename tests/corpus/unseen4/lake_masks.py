import random
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class RandomFlip:
    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, *tensors):
        if random.random() < self.p:
            tensors = tuple(t.flip(-1) for t in tensors)
        return tensors if len(tensors) > 1 else tensors[0]


class LakeDataset(Dataset):
    def __init__(self, n, augment=None, size=24):
        yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
        cy, cx = torch.randint(6, 18, (n, 1, 1)), torch.randint(4, 20, (n, 1, 1))
        radius = torch.randint(3, 6, (n, 1, 1))
        self.masks = ((yy - cy) ** 2 + (xx - cx) ** 2 <= radius ** 2).float().unsqueeze(1)
        self.images = self.masks * 0.9 + 0.35 * torch.randn(n, 1, size, size)
        self.augment = augment

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image, mask = self.images[i], self.masks[i]
        if self.augment:
            image = self.augment(image)
            mask = self.augment(mask)
        return image, mask


random.seed(14)
torch.manual_seed(14)
train_loader = DataLoader(LakeDataset(320, augment=RandomFlip()), batch_size=16, shuffle=True)
val_loader = DataLoader(LakeDataset(80), batch_size=40)

model = nn.Sequential(
    nn.Conv2d(1, 12, 5, padding=2), nn.ReLU(),
    nn.Conv2d(12, 12, 5, padding=2), nn.ReLU(),
    nn.Conv2d(12, 1, 1),
)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    model.train()
    for image, mask in train_loader:
        loss = F.binary_cross_entropy_with_logits(model(image), mask)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    inter = union = 0
    with torch.no_grad():
        for image, mask in val_loader:
            pred = model(image) > 0
            inter += (pred & (mask > 0)).sum().item()
            union += (pred | (mask > 0)).sum().item()
    print(f"epoch {epoch} loss {loss.item():.4f} val IoU {inter / max(union, 1):.3f}")
