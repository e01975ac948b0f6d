import torch
from torch import nn

torch.manual_seed(8)


def make_batch(n, size=24):
    imgs = 0.3 * torch.randn(n, 1, size, size)
    masks = torch.zeros(n, 1, size, size)
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    for i in range(n):
        cy, cx = torch.randint(5, size - 5, (2,)).tolist()
        r = torch.randint(2, 4, ()).item()
        blob = ((yy - cy) ** 2 + (xx - cx) ** 2 <= r * r).float()
        masks[i, 0] = blob
        imgs[i, 0] += blob
    return imgs, masks


class MiniUNet(nn.Module):
    def __init__(self, ch=8):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, ch, 3, padding=1), nn.ReLU())
        self.mid = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(ch, 2 * ch, 3, padding=1), nn.ReLU())
        self.up = nn.ConvTranspose2d(2 * ch, ch, 2, stride=2)
        self.head = nn.Conv2d(2 * ch, 1, 1)

    def forward(self, x):
        d = self.down(x)
        u = self.up(self.mid(d))
        return torch.sigmoid(self.head(torch.cat([d, u], 1)))


def dice(pred, target):
    inter = (pred * target).sum()
    return (2 * inter / (pred.sum() + target.sum() + 1e-6)).item()


model = MiniUNet()
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
x_train, m_train = make_batch(160)
x_val, m_val = make_batch(40)

for epoch in range(8):
    model.train()
    order = torch.randperm(160)
    for idx in order.split(16):
        optimizer.zero_grad()
        loss = criterion(model(x_train[idx]), m_train[idx])
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        probs = torch.sigmoid(model(x_val))
    print(f"epoch {epoch} loss {loss.item():.4f} val dice {dice((probs > 0.5).float(), m_val):.4f}")
