import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


def scanner(n, seed):
    """8-bit frames; positive frames have a slightly brighter centre."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    frames = rng.normal(120, 25, size=(n, 10, 10))
    frames[labels == 1, 3:7, 3:7] += 18
    return np.clip(frames, 0, 255).astype(np.uint8), labels


class FrameDataset(Dataset):
    def __init__(self, n, seed):
        self.frames, self.labels = scanner(n, seed)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        frame = torch.from_numpy(self.frames[i])
        frame = (frame.float() - 128) / 64.0
        return frame.unsqueeze(0), int(self.labels[i])


class FrameNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3)
        self.fc = nn.Linear(8 * 4 * 4, 2)

    def forward(self, x):
        x = torch.relu(self.conv(x))
        x = nn.functional.avg_pool2d(x, 2)
        return self.fc(x.flatten(1))


def main():
    torch.manual_seed(0)
    train = DataLoader(FrameDataset(800, 0), batch_size=40, shuffle=True)
    test = DataLoader(FrameDataset(400, 1), batch_size=100)
    net = FrameNet()
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for epoch in range(10):
        total = 0.0
        for x, y in train:
            loss = nn.functional.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        with torch.no_grad():
            acc = sum((net(x).argmax(1) == y).sum().item() for x, y in test) / 400
        print(f"epoch {epoch}: loss {total / len(train):.4f} accuracy {acc:.3f}")


main()
