import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

BIG, SMALL, CLASSES = 24, 16, 4


def stripes(count, generator):
    pictures = torch.zeros(count, 1, BIG, BIG)
    masks = torch.zeros(count, BIG, BIG, dtype=torch.long)
    for i in range(count):
        edges = torch.randint(3, BIG - 3, (3,), generator=generator).sort().values.tolist()
        kinds = torch.randperm(CLASSES, generator=generator).tolist()
        for kind, start, stop in zip(kinds, [0, *edges], [*edges, BIG]):
            masks[i, :, start:stop] = kind
            pictures[i, 0, :, start:stop] = (0.1, 0.9, 0.35, 0.65)[kind]
    return pictures + 0.05 * torch.randn(pictures.shape, generator=generator), masks


def shrink(pictures, masks):
    pictures = F.interpolate(pictures, size=(SMALL, SMALL), mode="bilinear", align_corners=False)
    masks = F.interpolate(masks.unsqueeze(1).float(), size=(SMALL, SMALL), mode="nearest").squeeze(1)
    return pictures, masks.round().long()


class Segmenter(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1), nn.ReLU(),
            nn.Conv2d(width, CLASSES, 1),
        )

    def forward(self, x):
        return self.layers(x)


def main():
    torch.manual_seed(71)
    generator = torch.Generator().manual_seed(71)
    loader = DataLoader(TensorDataset(*shrink(*stripes(160, generator))), batch_size=16, shuffle=True)
    net = Segmenter()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    for epoch in range(6):
        right = pixels = 0
        for x, y in loader:
            logits = net(x)
            loss = F.cross_entropy(logits, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            right += (logits.argmax(1) == y).sum().item()
            pixels += y.numel()
        print(f"epoch {epoch} loss {loss.item():.4f} pixel accuracy {right / pixels:.3f}")


if __name__ == "__main__":
    main()
