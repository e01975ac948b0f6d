"""Classify short synthetic sound clips by their spectrum."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

CLASSES = {"bell": 0, "engine": 1, "wind": 2}
BANDS = {"bell": (20, 26), "engine": (2, 6), "wind": (8, 16), "rain": (24, 33)}


class Clips(Dataset):
    def __init__(self, count, seed):
        self.kinds = [list(BANDS)[i % len(BANDS)] for i in range(count)]
        self.seed = seed

    def __len__(self):
        return len(self.kinds)

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(self.seed * 100003 + index)
        kind = self.kinds[index]
        low, high = BANDS[kind]
        spectrum = torch.fft.rfft(torch.randn(64, generator=generator))
        gain = torch.full((33,), 0.3)
        gain[low:high] = 2.0
        clip = torch.fft.irfft(spectrum * gain)
        return torch.fft.rfft(clip).abs().log1p(), CLASSES[kind]


class SoundNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(33)
        self.fc = nn.Linear(33, 24)
        self.out = nn.Linear(24, 4)

    def forward(self, x):
        return self.out(torch.relu(self.fc(self.norm(x))))


def main():
    torch.manual_seed(45)
    loader = DataLoader(Clips(480, seed=1), batch_size=48, shuffle=True, num_workers=1)
    net = SoundNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(3):
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(net(x), y)
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
