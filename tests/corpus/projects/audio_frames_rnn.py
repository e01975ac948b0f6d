"""An RNN over the frames of a spectrogram tells rising from falling chirps."""
import math

import torch
from torch import nn

SAMPLES, FFT, HOP = 2048, 64, 32


def chirps(count, generator):
    label = torch.randint(0, 3, (count,), generator=generator)
    time = torch.linspace(0, 1, SAMPLES)
    start = 150 + 50 * torch.rand(count, 1, generator=generator)
    slope = (label[:, None].float() - 1) * 120
    phase = 2 * math.pi * (start * time + 0.5 * slope * time**2)
    return torch.sin(phase) + 0.3 * torch.randn(count, SAMPLES, generator=generator), label


def spectrogram(wave):
    window = torch.hann_window(FFT)
    spec = torch.stft(wave, FFT, HOP, window=window, return_complex=True).abs()
    return torch.log1p(spec)


class FrameRNN(nn.Module):
    def __init__(self, bins=FFT // 2 + 1, hidden=32, classes=3):
        super().__init__()
        self.bins = bins
        self.norm = nn.LayerNorm(bins)
        self.rnn = nn.GRU(bins, hidden, batch_first=True)
        self.head = nn.Linear(hidden, classes)

    def forward(self, spec):
        batch, bins, frames = spec.shape
        frames_first = spec.reshape(batch, frames, bins)
        output, _ = self.rnn(self.norm(frames_first))
        return self.head(output.mean(dim=1))


def accuracy(model, wave, label):
    with torch.no_grad():
        return (model(spectrogram(wave)).argmax(1) == label).float().mean().item()


def train(model, steps, generator, lr):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    criterion = nn.CrossEntropyLoss()
    for step in range(steps):
        wave, label = chirps(32, generator)
        loss = criterion(model(spectrogram(wave)), label)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 20 == 19:
            print(f"step {step} loss {loss.item():.4f}")


def main():
    torch.manual_seed(15)
    generator = torch.Generator().manual_seed(15)
    model = FrameRNN()
    train(model, 80, generator, lr=4e-3)
    print(f"accuracy {accuracy(model, *chirps(200, generator)):.4f}")


main()
