import torch
from torch import nn

torch.manual_seed(0)
feat = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2), nn.Conv2d(8, 16, 3, padding=1)).eval().requires_grad_(False)


def gram(f):
    f = f.flatten(2)
    return f @ f.transpose(1, 2) / f.numel()


content, style = torch.rand(1, 3, 24, 24), torch.rand(1, 3, 24, 24)
image = content.clone().requires_grad_(True)
opt = torch.optim.LBFGS([image], max_iter=10)
fc, gs = feat(content), gram(feat(style))
for step in range(6):
    def closure():
        opt.zero_grad()
        f = feat(image)
        loss = nn.functional.mse_loss(f, fc) + 1e4 * nn.functional.mse_loss(gram(f), gs)
        loss.backward()
        return loss

    print(step, opt.step(closure).item())
    with torch.no_grad():
        image.clamp_(0, 1)
