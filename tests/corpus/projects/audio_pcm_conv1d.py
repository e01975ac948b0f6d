"""A 1-D CNN on 16-bit samples of three made instruments."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def synthesize(kind, rng, length=800, rate=4000):
    time = np.arange(length) / rate
    pitch = rng.uniform(180, 260)
    weights = {0: [1.0, 0.0, 0.0], 1: [0.6, 0.5, 0.0], 2: [0.4, 0.2, 0.5]}[kind]
    wave = sum(w * np.sin(2 * np.pi * pitch * (k + 1) * time) for k, w in enumerate(weights))
    wave = wave * rng.uniform(0.5, 0.9) + 0.02 * rng.normal(size=length)
    return (np.clip(wave, -1, 1) * 32767).astype(np.int16)


class Instruments(Dataset):
    def __init__(self, count, seed):
        rng = np.random.default_rng(seed)
        self.kinds = rng.integers(0, 3, count)
        self.samples = [synthesize(kind, rng) for kind in self.kinds]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        wave = torch.from_numpy(self.samples[index]).float()
        return wave.unsqueeze(0), int(self.kinds[index])


class WaveNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv1d(1, 16, 16, stride=4), nn.ReLU(),
            nn.Conv1d(16, 32, 8, stride=4), nn.ReLU(),
            nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(32, 3),
        )

    def forward(self, x):
        return self.layers(x)


def epoch_loss(model, loader, criterion, optimizer):
    total = 0.0
    for wave, kind in loader:
        loss = criterion(model(wave), kind)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(loader)


def main():
    torch.manual_seed(2)
    loader = DataLoader(Instruments(360, 0), batch_size=24, shuffle=True)
    test = DataLoader(Instruments(120, 1), batch_size=120)
    model = WaveNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(10):
        loss = epoch_loss(model, loader, criterion, optimizer)
        if epoch % 3 == 0:
            wave, kind = next(iter(test))
            with torch.no_grad():
                hits = (model(wave).argmax(1) == kind).float().mean()
            print(f"epoch {epoch} loss {loss:.4f} test {hits:.4f}")


if __name__ == "__main__":
    main()
