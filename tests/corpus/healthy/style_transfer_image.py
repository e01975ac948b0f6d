"""Optimise the pixels of an image; the network is only a fixed measuring device."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
features = nn.Sequential(
    nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(),
    nn.Conv2d(8, 16, 3, padding=1, stride=2), nn.ReLU(),
).eval()
for p in features.parameters():
    p.requires_grad_(False)


def gram(f):
    b, c, h, w = f.shape
    m = f.view(b, c, h * w)
    return m @ m.transpose(1, 2) / (h * w)


def taps(img):
    out = []
    for layer in features:
        img = layer(img)
        if isinstance(layer, nn.ReLU):
            out.append(img)
    return out


yy, xx = torch.meshgrid(torch.linspace(0, 1, 24), torch.linspace(0, 1, 24), indexing="ij")
content = torch.stack([xx, yy, (xx + yy) / 2]).unsqueeze(0)
style = torch.sin(torch.stack([20 * xx, 20 * yy, 20 * (xx - yy)])).unsqueeze(0) * 0.5 + 0.5
content_features = taps(content)[-1]
style_grams = [gram(f) for f in taps(style)]

image = content.clone().requires_grad_(True)
opt = torch.optim.Adam([image], lr=0.03)
for it in range(50):
    fs = taps(image)
    c_loss = F.mse_loss(fs[-1], content_features)
    s_loss = sum(F.mse_loss(gram(f), g) for f, g in zip(fs, style_grams))
    loss = c_loss + 50 * s_loss
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        image.clamp_(0, 1)
    if it % 10 == 0:
        print(f"it {it} content {c_loss.item():.6f} style {s_loss.item():.8f} total {loss.item():.6f}")
