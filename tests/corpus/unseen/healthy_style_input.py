import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

torch.manual_seed(0)
size = 24
g = torch.linspace(0, 6.28, size)
content_img = (torch.sin(g)[None, None, :, None] * torch.cos(g)[None, None, None] * 0.5 + 0.5).expand(1, 3, size, size).clone()
style_img = ((torch.arange(size)[:, None] // 3 + torch.arange(size)[None] // 3) % 2).float().expand(1, 3, size, size).clone()


class ContentLoss(nn.Module):
    def __init__(self, target):
        super().__init__()
        self.target = target.detach()

    def forward(self, x):
        self.loss = F.mse_loss(x, self.target)
        return x


def gram_matrix(x):
    a, b, c, d = x.size()
    f = x.view(a * b, c * d)
    return torch.mm(f, f.t()).div(a * b * c * d)


class StyleLoss(nn.Module):
    def __init__(self, target_feature):
        super().__init__()
        self.target = gram_matrix(target_feature).detach()

    def forward(self, x):
        self.loss = F.mse_loss(gram_matrix(x), self.target)
        return x


cnn = nn.Sequential(nn.Conv2d(3, 12, 3, padding=1), nn.ReLU(inplace=False), nn.Conv2d(12, 16, 3, padding=1), nn.ReLU(inplace=False)).eval()
model, content_losses, style_losses = nn.Sequential(), [], []
for i, layer in enumerate(cnn.children()):
    model.add_module(f"layer_{i}", layer)
    if isinstance(layer, nn.Conv2d):
        content_losses.append(ContentLoss(model(content_img)))
        model.add_module(f"content_{i}", content_losses[-1])
        style_losses.append(StyleLoss(model(style_img)))
        model.add_module(f"style_{i}", style_losses[-1])

input_img = content_img.clone().requires_grad_(True)
model.eval()
model.requires_grad_(False)
optimizer = optim.LBFGS([input_img])
run = [0]
while run[0] <= 60:
    def closure():
        with torch.no_grad():
            input_img.clamp_(0, 1)
        optimizer.zero_grad()
        model(input_img)
        style_score = 1e5 * sum(s.loss for s in style_losses)
        content_score = sum(c.loss for c in content_losses)
        loss = style_score + content_score
        loss.backward()
        run[0] += 1
        if run[0] % 20 == 0:
            print(f"run {run[0]}: style {style_score.item():.4f} content {content_score.item():.4f}")
        return loss

    optimizer.step(closure)
with torch.no_grad():
    input_img.clamp_(0, 1)
print("changed pixels", (input_img - content_img).abs().mean().item())
