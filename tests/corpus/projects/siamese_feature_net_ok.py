"""Tells whether two digits are the same, on top of a convolutional encoder."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn


class Encoder(nn.Module):
    def __init__(self, size=24):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.fc = nn.Linear(16 * 4, size)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc(x.flatten(1))


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.head = nn.Sequential(nn.Linear(24, 16), nn.ReLU(), nn.Linear(16, 1))

    def features(self, x):
        return self.encoder(x)

    def forward(self, a, b):
        gap = (self.features(a) - self.features(b)).abs()
        return self.head(gap).squeeze(1)


class Pairs:
    def __init__(self, images, labels, seed):
        self.images, self.labels = images, labels
        self.generator = torch.Generator().manual_seed(seed)
        self.rows = [torch.nonzero(labels == d).squeeze(1) for d in range(10)]

    def draw(self, count):
        first = torch.randint(0, len(self.labels), (count,), generator=self.generator)
        second = torch.randint(0, len(self.labels), (count,), generator=self.generator)
        for place in range(0, count, 2):
            rows = self.rows[int(self.labels[first[place]])]
            second[place] = rows[torch.randint(0, len(rows), (), generator=self.generator)]
        same = (self.labels[first] == self.labels[second]).float()
        return self.images[first], self.images[second], same


def main(steps=250):
    torch.manual_seed(3)
    data = load_digits()
    images = torch.tensor(data.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(data.target)
    train, test = Pairs(images[:1400], labels[:1400], 1), Pairs(images[1400:], labels[1400:], 2)
    model = Siamese()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(steps):
        a, b, same = train.draw(64)
        loss = F.binary_cross_entropy_with_logits(model(a, b), same)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 49:
            a, b, same = test.draw(400)
            with torch.no_grad():
                hits = ((model(a, b) > 0) == (same > 0.5)).float().mean()
            print(f"step {step} loss {loss.item():.4f} test {hits:.4f}")


if __name__ == "__main__":
    main()
