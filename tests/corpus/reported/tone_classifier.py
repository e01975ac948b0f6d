import math

import torch
import torch.nn as nn
import torch.nn.functional as F

RATE, LENGTH = 400, 128


def tones(count, generator):
    kind = torch.randint(0, 3, (count,), generator=generator)
    frequency = torch.tensor([20.0, 45.0, 80.0])[kind].unsqueeze(1)
    phase = torch.rand(count, 1, generator=generator) * 2 * math.pi
    time = torch.arange(LENGTH) / RATE
    wave = torch.sin(2 * math.pi * frequency * time + phase)
    return wave + 0.5 * torch.randn(count, LENGTH, generator=generator), kind


class ToneNet(nn.Module):
    def __init__(self, channels=12):
        super(ToneNet, self).__init__()
        self.filters = nn.Conv1d(1, channels, kernel_size=15, stride=2)
        self.norm = nn.BatchNorm1d(channels)
        self.out = nn.Linear(channels, 3)

    def foward(self, wave):
        x = F.relu(self.norm(self.filters(wave.unsqueeze(1))))
        return self.out(x.mean(dim=2))


def main():
    torch.manual_seed(28)
    generator = torch.Generator().manual_seed(28)
    net = ToneNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    for step in range(80):
        wave, kind = tones(48, generator)
        loss = F.cross_entropy(net(wave), kind)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 19:
            print(f"step {step + 1} loss {loss.item():.4f}")
    net.eval()
    wave, kind = tones(300, generator)
    with torch.no_grad():
        print("accuracy", (net(wave).argmax(1) == kind).float().mean().item())


if __name__ == "__main__":
    main()
