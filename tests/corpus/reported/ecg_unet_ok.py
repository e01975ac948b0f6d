"""1-d U-Net that marks peaks in a noisy signal."""
import torch
import torch.nn.functional as F
from torch import nn


def conv(cin, cout):
    return nn.Sequential(nn.Conv1d(cin, cout, 5, padding=2), nn.ReLU())


class UNet1d(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.down1 = conv(1, width)
        self.down2 = conv(width, 2 * width)
        self.bottom = conv(2 * width, 4 * width)
        self.mid = conv(6 * width, 2 * width)
        self.top = conv(3 * width, width)
        self.out = nn.Conv1d(width, 1, 1)

    def forward(self, x):
        skip1 = self.down1(x)
        skip2 = self.down2(F.max_pool1d(skip1, 2))
        bottom = self.bottom(F.max_pool1d(skip2, 2))
        up2 = F.interpolate(bottom, size=skip2.shape[-1])
        mid = self.mid(torch.cat([up2, skip2], dim=1))
        up1 = F.interpolate(mid, size=skip1.shape[-1])
        top = self.top(torch.cat([up1, skip1], dim=1))
        return self.out(top)


def beats(count, length, generator):
    signal = 0.2 * torch.randn(count, 1, length, generator=generator)
    marks = torch.zeros(count, 1, length)
    starts = torch.randint(2, length - 6, (count,), generator=generator)
    for i, s in enumerate(starts.tolist()):
        signal[i, 0, s:s + 4] += torch.tensor([0.5, 1.5, 1.5, 0.5])
        marks[i, 0, s:s + 4] = 1.0
    return signal, marks


def main():
    torch.manual_seed(5)
    generator = torch.Generator().manual_seed(5)
    model = UNet1d()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(60):
        signal, marks = beats(32, 50, generator)
        optimizer.zero_grad()
        loss = F.binary_cross_entropy_with_logits(model(signal), marks)
        loss.backward()
        optimizer.step()
        if step % 20 == 19:
            print(f"step {step + 1}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
