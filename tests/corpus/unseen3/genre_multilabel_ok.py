import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(29)
TAGS = ["jazz", "folk", "techno", "choir"]
proj = torch.randn(14, len(TAGS))


def tracks(n):
    x = torch.randn(n, 14)
    p = torch.sigmoid((x @ proj) * 0.35)
    return x, torch.bernoulli(p)


class TagModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(14, 16), nn.ReLU(), nn.Linear(16, len(TAGS)))

    def forward(self, x):
        return self.net(x)


def f1_per_tag(model, x, y):
    model.eval()
    with torch.no_grad():
        out = model(x)
    pred = (torch.sigmoid(out) > 0.5).float()
    tp = (pred * y).sum(0)
    fp = (pred * (1 - y)).sum(0)
    fn = ((1 - pred) * y).sum(0)
    return 2 * tp / (2 * tp + fp + fn).clamp(min=1), tp / (tp + fn)


x_val, y_val = tracks(2000)
loader = DataLoader(TensorDataset(*tracks(2000)), batch_size=64, shuffle=True)
model = TagModel()
criterion = nn.BCEWithLogitsLoss()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(8):
    model.train()
    total = 0.0
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
        total += loss.item()
    f1, recall = f1_per_tag(model, x_val, y_val)
    print(f"epoch {epoch} loss {total / len(loader):.4f} macro F1 {f1.mean():.3f} recall {recall.mean():.3f}")
