"""Pictures and masks are resized by the dataset before a small FCN sees them."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

CLASSES, BIG, SMALL = 5, 24, 16


class Stripes(Dataset):
    def __init__(self, count, seed):
        generator = torch.Generator().manual_seed(seed)
        bands = torch.randint(0, CLASSES, (count, 6, 6), generator=generator)
        self.masks = bands.repeat_interleave(4, 1).repeat_interleave(4, 2)
        noise = 0.1 * torch.randn(count, BIG, BIG, generator=generator)
        self.pictures = self.masks.float() / CLASSES + noise

    def __len__(self):
        return len(self.masks)

    def resize(self, x, mode):
        options = {} if mode == "nearest" else {"align_corners": False}
        return F.interpolate(x[None, None], size=(SMALL, SMALL), mode=mode, **options)[0, 0]

    def __getitem__(self, index):
        picture = self.resize(self.pictures[index], "bilinear").unsqueeze(0)
        mask = self.resize(self.masks[index].float(), "bilinear").long()
        return picture, mask


class FCN(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1), nn.ReLU(),
            nn.Conv2d(width, CLASSES, 1),
        )

    def forward(self, x):
        return self.layers(x)


def pixel_accuracy(model, loader):
    hits = total = 0
    model.eval()
    with torch.no_grad():
        for picture, mask in loader:
            hits += (model(picture).argmax(1) == mask).sum().item()
            total += mask.numel()
    return hits / total


def main():
    torch.manual_seed(5)
    train, val = DataLoader(Stripes(256, 0), 16, shuffle=True), DataLoader(Stripes(64, 1), 64)
    model = FCN()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(6):
        model.train()
        for picture, mask in train:
            loss = F.cross_entropy(model(picture), mask)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f} val {pixel_accuracy(model, val):.4f}")


if __name__ == "__main__":
    main()
