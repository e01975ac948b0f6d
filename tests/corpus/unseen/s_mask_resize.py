import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
N_CLASSES = 5


def scene(n, size=32):
    masks = torch.zeros(n, size, size, dtype=torch.long)
    for i in range(n):
        for _ in range(7):
            r, c = torch.randint(0, size - 6, (2,)).tolist()
            h = torch.randint(3, 6, ()).item()
            k = 4 if torch.rand(()) < 0.7 else 2
            masks[i, r:r + h, c:c + h] = k
    colour = torch.tensor([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]])
    imgs = colour[masks].permute(0, 3, 1, 2) + 0.3 * torch.randn(n, 3, size, size)
    return imgs, masks


def resize_pair(imgs, masks, size=16):
    imgs = F.interpolate(imgs, (size, size), mode="bilinear", align_corners=False)
    m = masks.unsqueeze(1).float()
    m = F.interpolate(m, (size, size), mode="bilinear", align_corners=False)
    return imgs, m.squeeze(1).long()


class SegNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(),
            nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, N_CLASSES, 1))

    def forward(self, x):
        return self.body(x)


train_x, train_m = resize_pair(*scene(160))
full_x, full_m = scene(40)
test_x = F.interpolate(full_x, (16, 16), mode="bilinear", align_corners=False)
test_m = full_m[:, ::2, ::2]
model = SegNet()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(10):
    model.train()
    for idx in torch.randperm(160).split(16):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(train_x[idx]), train_m[idx])
        loss.backward()
        optimizer.step()
    if epoch % 3 == 0:
        print(f"epoch {epoch} loss {loss.item():.4f}")
model.eval()
with torch.no_grad():
    pred = model(test_x).argmax(1)
ghost = ((pred == 1) | (pred == 3)).float().mean().item()
fg = test_m > 0
print(f"object pixel acc {(pred[fg] == test_m[fg]).float().mean():.4f} share of classes that are not there {ghost:.4f}")
