import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(5)


def blobs(n, classes, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, classes, (n,), generator=g)
    x = 0.4 * torch.randn(n, 1, 12, 12, generator=g)
    for i in range(n):
        r, c = divmod(int(y[i]), 3)
        x[i, 0, r * 4:r * 4 + 4, c * 4:c * 4 + 4] += 1.0
    return x, y


class Backbone(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(3),
        )
        self.classifier = nn.Linear(64, n_out)

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


def fit(model, opt, x, y, steps):
    model.train()
    for step in range(steps):
        idx = torch.randint(0, len(x), (32,))
        loss = F.cross_entropy(model(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 30 == 0:
            print(f"step {step} loss {loss.item():.4f}")


model = Backbone(4)
x0, y0 = blobs(400, 4, 1)
fit(model, torch.optim.Adam(model.parameters(), lr=2e-3), x0, y0, 60)

for p in model.features.parameters():
    p.requires_grad = False
model.classifier = nn.Linear(64, 9)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

x1, y1 = blobs(600, 9, 2)
xt, yt = blobs(200, 9, 3)
fit(model, optimizer, x1, y1, 120)
model.eval()
with torch.no_grad():
    print("target task accuracy", (model(xt).argmax(1) == yt).float().mean().item())
