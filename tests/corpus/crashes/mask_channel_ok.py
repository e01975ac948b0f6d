import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Shapes(Dataset):
    def __init__(self, n=40, size=16):
        g = torch.Generator().manual_seed(0)
        self.images = torch.randn(n, 1, size, size, generator=g)
        self.masks = (self.images > 0.5).long().squeeze(1)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.images[i], self.masks[i]


torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 2, 1))
criterion = nn.CrossEntropyLoss()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(2):
    for image, mask in DataLoader(Shapes(), batch_size=8):
        loss = criterion(model(image), mask)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
