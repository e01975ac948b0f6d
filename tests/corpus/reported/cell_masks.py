import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class CellDataset(Dataset):
    """Round cells on a noisy background, with an 8-bit mask."""

    def __init__(self, count, size=16, seed=0):
        rng = np.random.default_rng(seed)
        yy, xx = np.mgrid[:size, :size]
        self.items = []
        for _ in range(count):
            cy, cx = rng.integers(4, size - 4, size=2)
            inside = (yy - cy) ** 2 + (xx - cx) ** 2 < rng.integers(5, 14)
            image = np.clip(60 + 90 * inside + rng.normal(0, 15, (size, size)), 0, 255).astype(np.uint8)
            mask = np.where(inside, 255, 0).astype(np.uint8)
            self.items.append((image, mask))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        image, mask = self.items[index]
        image = torch.from_numpy(image).float().div(255).unsqueeze(0)
        return image, torch.from_numpy(mask).long()


def network():
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(),
        nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(),
        nn.Conv2d(8, 2, 1),
    )


def main():
    torch.manual_seed(15)
    loader = DataLoader(CellDataset(240), batch_size=24, shuffle=True)
    net = network()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    for epoch in range(4):
        total = 0.0
        for image, mask in loader:
            optimizer.zero_grad()
            loss = criterion(net(image), mask)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch + 1}/4 loss {total / len(loader):.4f}")


if __name__ == "__main__":
    main()
