import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


def double_conv(in_ch, out_ch):
    return nn.Sequential(
        nn.Conv2d(in_ch, out_ch, 3, padding=1), nn.BatchNorm2d(out_ch), nn.ReLU(inplace=True),
        nn.Conv2d(out_ch, out_ch, 3, padding=1), nn.BatchNorm2d(out_ch), nn.ReLU(inplace=True),
    )


class UNet(nn.Module):
    def __init__(self, base=8):
        super().__init__()
        self.down1 = double_conv(1, base)
        self.down2 = double_conv(base, base * 2)
        self.bottom = double_conv(base * 2, base * 4)
        self.up2 = nn.ConvTranspose2d(base * 4, base * 2, 2, stride=2)
        self.conv2 = double_conv(base * 2, base * 2)
        self.up1 = nn.ConvTranspose2d(base * 2, base, 2, stride=2)
        self.conv1 = double_conv(base * 2, base)
        self.head = nn.Conv2d(base, 1, 1)

    def forward(self, x):
        s1 = self.down1(x)
        s2 = self.down2(F.max_pool2d(s1, 2))
        x = self.bottom(F.max_pool2d(s2, 2))
        x = self.conv2(torch.cat([self.up2(x), s2], dim=1))
        x = self.conv1(torch.cat([self.up1(x), s1], dim=1))
        return self.head(x)


class Discs(Dataset):
    def __init__(self, n, size=16, seed=0):
        g = torch.Generator().manual_seed(seed)
        yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
        cx, cy, r = (torch.randint(lo, hi, (n, 1, 1), generator=g) for lo, hi in ((4, 12), (4, 12), (2, 5)))
        self.masks = (((xx - cx) ** 2 + (yy - cy) ** 2) < r ** 2).float().unsqueeze(1)
        self.images = self.masks + 0.4 * torch.randn(n, 1, size, size, generator=g)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, idx):
        return self.images[idx], self.masks[idx]


if __name__ == "__main__":
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    loader = DataLoader(Discs(96), batch_size=16, shuffle=True)
    net = UNet().to(device)
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    for epoch in range(4):
        total = 0.0
        for img, mask in loader:
            img, mask = img.to(device), mask.to(device)
            opt.zero_grad()
            loss = F.binary_cross_entropy_with_logits(net(img), mask)
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch}: bce {total / len(loader):.5f}")
