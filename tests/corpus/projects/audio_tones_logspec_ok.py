"""Classifies tones by a log spectrogram and a small CNN."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

RATE = 2000


class Tones(Dataset):
    def __init__(self, count, seed):
        generator = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(0, 5, (count,), generator=generator)
        time = torch.arange(1024) / RATE
        pitch = 120.0 * (self.labels + 1) + 10 * torch.randn(count, generator=generator)
        self.waves = torch.sin(2 * torch.pi * pitch[:, None] * time)
        self.waves += 0.1 * torch.randn(count, 1024, generator=generator)
        quiet = torch.rand(count, generator=generator) < 0.3
        self.waves[quiet, 512:] = 0

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.waves[index], self.labels[index]


class LogSpectrogram(nn.Module):
    def __init__(self, n_fft=64, hop=32):
        super().__init__()
        self.n_fft, self.hop = n_fft, hop
        self.register_buffer("window", torch.hann_window(n_fft))

    def forward(self, wave):
        spec = torch.stft(wave, self.n_fft, self.hop, window=self.window, return_complex=True)
        power = spec.abs().pow(2)
        return torch.log(power + 1e-6).unsqueeze(1)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.front = LogSpectrogram()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU()
        )
        self.out = nn.Linear(16 * 9, 5)

    def forward(self, wave):
        features = self.conv(self.front(wave))
        return self.out(features.mean(dim=3).flatten(1))


def main():
    torch.manual_seed(0)
    train = DataLoader(Tones(600, 1), batch_size=50, shuffle=True)
    test = Tones(200, 2)
    model = Classifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(6):
        for wave, label in train:
            loss = F.cross_entropy(model(wave), label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            accuracy = (model(test.waves).argmax(1) == test.labels).float().mean()
        print(f"epoch {epoch} loss {loss.item():.4f} test {accuracy:.4f}")


if __name__ == "__main__":
    main()
