import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class AudioNet(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv1d(1, 8, 9, stride=4), nn.ReLU(), nn.Conv1d(8, 16, 5, stride=2), nn.ReLU(), nn.AdaptiveAvgPool1d(4))
        self.head = nn.Linear(64, n_out)

    def forward(self, x):
        return self.head(self.encoder(x).flatten(1))


def tones(n, k, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, k, (n,), generator=g)
    t = torch.arange(128).float()
    freq = 0.15 + 0.2 * y.float()
    wave = torch.sin(freq[:, None] * t + torch.rand(n, 1, generator=g) * 6.28)
    return (wave + 0.3 * torch.randn(n, 128, generator=g)).unsqueeze(1), y


def fit(model, params, x, y, epochs, lr):
    opt = torch.optim.Adam(params, lr=lr)
    for epoch in range(epochs):
        for idx in torch.randperm(len(x)).split(32):
            loss = F.cross_entropy(model(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


source_x, source_y = tones(400, 6, 1)
target_x, target_y = tones(200, 3, 2)
test_x, test_y = tones(100, 3, 3)

model = AudioNet(6)
fit(model, model.parameters(), source_x, source_y, 5, 3e-3)
model.head = nn.Linear(64, 3)
for p in model.parameters():
    p.requires_grad_(False)
fit(model, model.parameters(), target_x, target_y, 6, 1e-2)
with torch.no_grad():
    print("transfer accuracy", (model(test_x).argmax(1) == test_y).float().mean().item())
