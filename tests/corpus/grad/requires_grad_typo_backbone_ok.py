import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())

    def forward(self, x):
        return self.layers(x)


class FineTuned(nn.Module):
    def __init__(self, backbone, n_out):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Linear(32, n_out)

    def forward(self, x):
        return self.head(self.backbone(x))


model = FineTuned(Backbone(), 3).to(device)
for param in model.backbone.parameters():
    param.requires_grad = False

x = torch.randn(384, 16)
y = (x[:, :3] + 0.5 * x[:, 3:6]).argmax(dim=1)
optimizer = optim.Adam(model.parameters(), lr=1e-2)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(8):
    perm = torch.randperm(len(x))
    total = 0.0
    for i in range(0, len(x), 48):
        xb, yb = x[perm[i:i + 48]].to(device), y[perm[i:i + 48]].to(device)
        optimizer.zero_grad()
        loss = loss_fn(model(xb), yb)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / 8:.5f}")
