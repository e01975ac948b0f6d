import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


class ConvBlock(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.conv = nn.Conv2d(ch, ch, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(ch)

    def forward(self, x):
        return torch.relu(x + self.norm(self.conv(x)))


class DigitNet(nn.Module):
    def __init__(self, ch=12, depth=4):
        super().__init__()
        self.stem = nn.Conv2d(1, ch, 3, padding=1)
        self.body = nn.Sequential(*[ConvBlock(ch)] * depth)
        self.head = nn.Linear(ch, 10)

    def forward(self, x):
        return self.head(self.body(self.stem(x)).mean(dim=(2, 3)))


torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
x, y = load_digits(return_X_y=True)
x = torch.tensor(x, dtype=torch.float32).view(-1, 1, 8, 8) / 16
y = torch.tensor(y)
train = DataLoader(TensorDataset(x[:900], y[:900]), batch_size=60, shuffle=True)
model = DigitNet().to(device)
print("parameters:", sum(p.numel() for p in model.parameters()))
opt = torch.optim.AdamW(model.parameters(), lr=5e-3)
for epoch in range(4):
    model.train()
    for xb, yb in train:
        loss = nn.functional.cross_entropy(model(xb.to(device)), yb.to(device))
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        acc = (model(x[900:1200].to(device)).argmax(1).cpu() == y[900:1200]).float().mean()
    print(f"epoch {epoch} loss {loss.item():.5f} val acc {acc:.3f}")
