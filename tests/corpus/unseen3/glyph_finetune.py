import copy
import torch
import torch.nn as nn
from sklearn.datasets import load_digits

torch.manual_seed(0)
digits = load_digits()
X = torch.tensor(digits.images / 16.0, dtype=torch.float32).unsqueeze(1)
y = torch.tensor(digits.target)


class GlyphNet(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.Flatten())
        self.head = nn.Linear(256, n_classes)

    def forward(self, x):
        return self.head(self.backbone(x))


def train(model, X, y, epochs, lr):
    opt = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=lr)
    for epoch in range(epochs):
        for idx in torch.randperm(len(X)).split(64):
            opt.zero_grad()
            loss = nn.functional.cross_entropy(model(X[idx]), y[idx])
            loss.backward()
            opt.step()
        print(f"  epoch {epoch} loss {loss.item():.4f}")


low = y < 5
print("pretraining on 0-4")
model = GlyphNet(5)
train(model, X[low], y[low], 4, 2e-3)

before = copy.deepcopy(model.backbone.state_dict())
# keep the pretrained features, learn a new head for 5-9
model.backbone.requires_grad = False
model.head = nn.Linear(256, 5)
trainable = sum(p.numel() for p in model.parameters() if p.requires_grad)
print("trainable parameters:", trainable)
print("training the head on 5-9")
train(model, X[~low][:60], y[~low][:60] - 5, 15, 2e-3)

drift = sum((before[k] - v).abs().sum().item() for k, v in model.backbone.state_dict().items())
with torch.no_grad():
    acc = (model(X[~low][60:]).argmax(1) == y[~low][60:] - 5).float().mean()
print(f"backbone drift {drift:.3f} accuracy {acc:.3f}")
