"""Counts objects and predicts a heat map of them; each picture has its own number of boxes."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIZE = 16


class Scenes(Dataset):
    def __init__(self, count, seed):
        generator = torch.Generator().manual_seed(seed)
        self.items = [self.make(generator) for _ in range(count)]

    def make(self, generator):
        number = int(torch.randint(1, 5, (), generator=generator))
        corner = torch.randint(0, SIZE - 3, (number, 2), generator=generator)
        boxes = torch.cat([corner, corner + 3], dim=1)
        picture = 0.1 * torch.randn(1, SIZE, SIZE, generator=generator)
        for x1, y1, x2, y2 in boxes.tolist():
            picture[0, y1:y2, x1:x2] += 1
        return picture, boxes

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]


def collate(batch):
    pictures, boxes = zip(*batch)
    return torch.stack(pictures), list(boxes)


def heat_maps(boxes):
    maps = torch.zeros(len(boxes), 1, SIZE, SIZE)
    for row, some in enumerate(boxes):
        centers = (some[:, :2] + some[:, 2:]) // 2
        maps[row, 0, centers[:, 1], centers[:, 0]] = 1
    return maps


class CenterNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, 1, 1)
        )

    def forward(self, x):
        return self.layers(x)


def main():
    torch.manual_seed(0)
    loader = DataLoader(Scenes(320, 0), batch_size=16, shuffle=True)
    model = CenterNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(5):
        total = 0.0
        for pictures, boxes in loader:
            weight = torch.tensor(20.0)
            loss = F.binary_cross_entropy_with_logits(model(pictures), heat_maps(boxes), pos_weight=weight)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f}")


if __name__ == "__main__":
    main()
