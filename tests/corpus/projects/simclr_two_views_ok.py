"""SimCLR on digits: two noisy, shifted views of each picture."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn


def augment(images, generator):
    shift = torch.randint(-1, 2, (2,), generator=generator).tolist()
    moved = torch.roll(images, shift, dims=(2, 3))
    noise = 0.15 * torch.randn(images.shape, generator=generator)
    return (moved + noise).clamp(0, 1)


class Encoder(nn.Module):
    def __init__(self, size=32):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(24 * 16, 64),
        )
        self.projector = nn.Sequential(nn.ReLU(), nn.Linear(64, size))

    def forward(self, x):
        hidden = self.conv(x)
        return hidden, F.normalize(self.projector(hidden), dim=1)


def nt_xent(first, second, temperature=0.2):
    z = torch.cat([first, second])
    similarity = z @ z.T / temperature
    count = len(first)
    similarity = similarity.masked_fill(torch.eye(2 * count, dtype=torch.bool), float("-inf"))
    targets = torch.cat([torch.arange(count, 2 * count), torch.arange(count)])
    return F.cross_entropy(similarity, targets)


def probe(model, images, labels):
    with torch.no_grad():
        features = F.normalize(model(images)[0], dim=1)
    near = (features[1200:] @ features[:1200].T).argmax(1)
    return (labels[:1200][near] == labels[1200:]).float().mean().item()


def main(steps=80):
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    data = load_digits()
    images = torch.tensor(data.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(data.target)
    model = Encoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for step in range(steps):
        batch = images[torch.randint(0, 1200, (96,), generator=generator)]
        _, first = model(augment(batch, generator))
        _, second = model(augment(batch, generator))
        loss = nt_xent(first, second)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 19:
            print(f"step {step} loss {loss.item():.4f} nearest {probe(model, images, labels):.4f}")


if __name__ == "__main__":
    main()
