import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2)
C, H, W = 3, 16, 20


def scenes(n, gen):
    ys, xs = torch.meshgrid(torch.arange(H), torch.arange(W), indexing="ij")
    mask = torch.zeros(n, H, W, dtype=torch.long)
    for k in range(n):
        cy, cx = torch.randint(4, H - 4, (1,), generator=gen), torch.randint(4, W - 4, (1,), generator=gen)
        d = (ys - cy) ** 2 + (xs - cx) ** 2
        mask[k][d < 20] = 1
        mask[k][d < 6] = 2
    img = F.one_hot(mask, C).permute(0, 3, 1, 2)[:, 1:].float().sum(1, keepdim=True)
    img = img + (mask == 2).unsqueeze(1) * 0.7 + 0.3 * torch.randn(n, 1, H, W, generator=gen)
    return img, mask


unet = nn.Sequential(nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(),
                     nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(),
                     nn.Conv2d(16, C, 1))


def pixel_loss(logits, mask):
    flat = logits.reshape(-1, C)
    return F.cross_entropy(flat, mask.reshape(-1))


gen = torch.Generator().manual_seed(0)
images, masks = scenes(64, gen)
val_images, val_masks = scenes(16, gen)
opt = torch.optim.Adam(unet.parameters(), lr=5e-3)
for epoch in range(8):
    perm = torch.randperm(len(images))
    for chunk in perm.split(16):
        opt.zero_grad()
        loss = pixel_loss(unet(images[chunk]), masks[chunk])
        loss.backward()
        opt.step()
    with torch.no_grad():
        val_logits = unet(val_images)
        agree = (val_logits.argmax(1) == val_masks).float().mean()
    print(f"{epoch:02d} loss={loss.item():.5f} pixel accuracy={agree.item():.4f}")
