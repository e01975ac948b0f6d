import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(12)


def conv_block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU())


class SmallUNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc1 = conv_block(1, 8)
        self.enc2 = conv_block(8, 16)
        self.mid = conv_block(16, 32)
        self.dec2 = conv_block(32 + 16, 16)
        self.dec1 = conv_block(16 + 8, 8)
        self.head = nn.Conv2d(8, 1, 1)

    def forward(self, x):
        s1 = self.enc1(x)
        s2 = self.enc2(F.max_pool2d(s1, 2))
        m = self.mid(F.max_pool2d(s2, 2))
        u2 = F.interpolate(m, scale_factor=2, mode="nearest")
        d2 = self.dec2(torch.cat([u2, s2], dim=1))
        u1 = F.interpolate(d2, size=s1.shape[-2:], mode="nearest")
        d1 = self.dec1(torch.cat([u1, s1], dim=1))
        return self.head(d1)


def make_tiles(n, size=30):
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    cy, cx = torch.randint(8, 22, (n, 1, 1)), torch.randint(8, 22, (n, 1, 1))
    r = torch.randint(4, 8, (n, 1, 1))
    masks = ((yy - cy) ** 2 + (xx - cx) ** 2 < r ** 2).float().unsqueeze(1)
    return masks + 0.4 * torch.randn_like(masks), masks


tiles, masks = make_tiles(160)
model = SmallUNet()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(4):
    for idx in torch.randperm(128).split(16):
        loss = F.binary_cross_entropy_with_logits(model(tiles[idx]), masks[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("epoch", epoch, "bce", round(loss.item(), 4))

model.eval()
with torch.no_grad():
    pred = model(tiles[128:]) > 0
    truth = masks[128:] > 0.5
print("IoU", ((pred & truth).sum() / (pred | truth).sum()).item())
