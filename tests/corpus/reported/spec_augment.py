"""Classify chirps from their spectrograms, with frequency and time masking."""
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SAMPLES = 512


def chirps(count, generator):
    kind = torch.randint(0, 3, (count,), generator=generator)
    begin = torch.rand(count, 1, generator=generator) * 0.05 + torch.tensor([0.08, 0.22, 0.15])[kind].unsqueeze(1)
    slope = torch.tensor([0.14, -0.14, 0.0])[kind].unsqueeze(1)
    t = torch.arange(SAMPLES).float()
    phase = 2 * math.pi * (begin * t + 0.5 * slope * t * t / SAMPLES)
    return phase.sin() + 0.5 * torch.randn(count, SAMPLES, generator=generator), kind


class Spectrograms(Dataset):
    def __init__(self, waves, labels, augment):
        window = torch.hann_window(64)
        spectra = torch.stft(waves, 64, hop_length=16, window=window, return_complex=True).abs()
        self.spectrograms = spectra.log1p()
        self.labels = labels
        self.augment = augment

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        spectrogram = self.spectrograms[index]
        if self.augment:
            start = int(torch.randint(0, spectrogram.size(0) - 4, (1,)))
            begin = int(torch.randint(0, spectrogram.size(1) - 4, (1,)))
            spectrogram[start:start + 4] = 0.0
            spectrogram[:, begin:begin + 4] = 0.0
        return spectrogram.unsqueeze(0), self.labels[index]


def main():
    torch.manual_seed(74)
    generator = torch.Generator().manual_seed(74)
    train_set = Spectrograms(*chirps(240, generator), augment=True)
    test_set = Spectrograms(*chirps(120, generator), augment=False)
    net = nn.Sequential(
        nn.Conv2d(1, 8, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(128, 3)
    )
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(16):
        net.train()
        for x, y in DataLoader(train_set, batch_size=24, shuffle=True):
            optimizer.zero_grad()
            loss = criterion(net(x), y)
            loss.backward()
            optimizer.step()
        net.eval()
        with torch.no_grad():
            right = sum((net(x).argmax(1) == y).sum().item() for x, y in DataLoader(test_set, batch_size=60))
        print(f"epoch {epoch} loss {loss.item():.4f} test accuracy {right / len(test_set):.3f}")


if __name__ == "__main__":
    main()
