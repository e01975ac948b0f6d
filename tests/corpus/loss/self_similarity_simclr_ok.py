import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
images = torch.tensor(load_digits().images[:512] / 16.0, dtype=torch.float32).unsqueeze(1)


def augment(x):
    shift = torch.randint(-1, 2, (2,)).tolist()
    x = torch.roll(x, shifts=shift, dims=(2, 3))
    return x * (0.8 + 0.4 * torch.rand(len(x), 1, 1, 1)) + 0.1 * torch.randn_like(x)


class Encoder(nn.Module):
    def __init__(self, feat=32, proj=16):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
            nn.Flatten(), nn.Linear(96, feat),
        )
        self.projector = nn.Sequential(nn.ReLU(), nn.Linear(feat, proj))

    def forward(self, x):
        return F.normalize(self.projector(self.backbone(x)), dim=1)


def nt_xent(z1, z2, temperature=0.2):
    n = z1.size(0)
    z = torch.cat([z1, z2], dim=0)
    sim = z @ z.t() / temperature
    eye = torch.eye(2 * n, dtype=torch.bool, device=z.device)
    sim = sim.masked_fill(eye, float("-inf"))
    labels = torch.cat([torch.arange(n, 2 * n), torch.arange(n)]).to(z.device)
    return F.cross_entropy(sim, labels)


encoder = Encoder()
optimizer = torch.optim.Adam(encoder.parameters(), lr=3e-3, weight_decay=1e-6)
for epoch in range(6):
    epoch_loss = 0.0
    chunks = images[torch.randperm(len(images))].split(64)
    for x in chunks:
        loss = nt_xent(encoder(augment(x)), encoder(augment(x)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item()
    print(f"epoch {epoch + 1}: {epoch_loss / len(chunks):.5f}")
