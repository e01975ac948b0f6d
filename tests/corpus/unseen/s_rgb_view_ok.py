import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

np.random.seed(0)
torch.manual_seed(0)


class ShapeImages(Dataset):
    def __init__(self, n):
        self.images = np.random.rand(n, 18, 18, 3).astype(np.float32) * 0.5
        self.labels = np.random.randint(0, 6, n)
        for img, k in zip(self.images, self.labels):
            r, c = np.random.randint(0, 11, 2)
            ch = k % 3
            if k < 3:
                img[r:r + 7, c + 3, ch] += 0.7
            else:
                img[r + 3, c:c + 7, ch] += 0.7

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        img = torch.from_numpy(self.images[i])
        h, w, c = img.shape
        return img.permute(2, 0, 1), int(self.labels[i])


class SmallNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Conv2d(16, 24, 3), nn.ReLU(), nn.AdaptiveMaxPool2d(1))
        self.fc = nn.Linear(24, 6)

    def forward(self, x):
        return self.fc(self.conv(x).flatten(1))


train = DataLoader(ShapeImages(900), batch_size=45, shuffle=True)
test = DataLoader(ShapeImages(300), batch_size=150)
model = SmallNet()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(8):
    model.train()
    for x, y in train:
        opt.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        acc = sum((model(x).argmax(1) == y).sum().item() for x, y in test) / 300
    print(f"epoch {epoch} loss {loss.item():.4f} test acc {acc:.3f}")
