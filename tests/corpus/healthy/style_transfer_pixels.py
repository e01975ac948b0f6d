import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)

features = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1)).eval()
features.requires_grad_(False)
content = torch.rand(1, 3, 16, 16)
goal = features(content)
image = torch.rand(1, 3, 16, 16, requires_grad=True)
opt = torch.optim.Adam([image], lr=0.05)
for step in range(15):
    opt.zero_grad()
    loss = F.mse_loss(features(image), goal) + 1e-3 * (image[..., 1:] - image[..., :-1]).abs().mean()
    loss.backward()
    opt.step()
    with torch.no_grad():
        image.clamp_(0, 1)
print(loss.item())
