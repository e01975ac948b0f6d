import numpy as np
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset, random_split


def make_patches(count, seed=3):
    rng = np.random.default_rng(seed)
    pictures = rng.normal(0.4, 0.1, size=(count, 16, 16, 3)).astype(np.float32)
    kinds = rng.integers(0, 3, size=count)
    for picture, kind in zip(pictures, kinds):
        row, col = rng.integers(0, 9, size=2)
        picture[row:row + 7, col:col + 7, kind] += 0.5
    return pictures, kinds


class PatchNet(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 12, kernel_size=3, padding=1),
            nn.BatchNorm2d(12),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(4),
        )
        self.head = nn.Linear(12 * 16, classes)

    def forward(self, x):
        return self.head(self.features(x).flatten(1))


torch.manual_seed(3)
pictures, kinds = make_patches(600)
dataset = TensorDataset(torch.from_numpy(pictures).permute(0, 3, 1, 2).contiguous(), torch.from_numpy(kinds))
train_set, val_set = random_split(dataset, [480, 120], generator=torch.Generator().manual_seed(3))
train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
val_loader = DataLoader(val_set, batch_size=60)

model = PatchNet()
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

for epoch in range(4):
    model.train()
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    model.eval()
    right = 0
    with torch.no_grad():
        for x, y in val_loader:
            right += (model(x).argmax(dim=1) == y).sum().item()
    print(f"epoch {epoch + 1}: val accuracy {right / len(val_set):.3f}")
