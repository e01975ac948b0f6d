import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
d = load_digits()
X = torch.tensor(d.images, dtype=torch.float32).unsqueeze(1) / 16
y = torch.tensor(d.target)
low, high = y < 5, y >= 5


class ConvBody(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten())

    def forward(self, x):
        return self.layers(x)


def fit(model, x, t, params, epochs, freeze_body=False):
    opt = torch.optim.Adam(params, lr=3e-3)
    loader = DataLoader(TensorDataset(x, t), batch_size=64, shuffle=True)
    for epoch in range(epochs):
        model.train()
        if freeze_body:
            model[0].eval()
        for xb, tb in loader:
            opt.zero_grad()
            loss = nn.functional.cross_entropy(model(xb), tb)
            loss.backward()
            opt.step()
        print("epoch", epoch, "loss", round(loss.item(), 4))


body = ConvBody()
model = nn.Sequential(body, nn.Linear(128, 5))
fit(model, X[low], y[low], model.parameters(), 3)
for p in body.parameters():
    p.requires_grad_(False)
model = nn.Sequential(body, nn.Linear(128, 5))
xh, yh = X[high], y[high] - 5
fit(model, xh[:700], yh[:700], model[1].parameters(), 6, freeze_body=True)
model.eval()
with torch.no_grad():
    print("accuracy on new classes", (model(xh[700:]).argmax(1) == yh[700:]).float().mean().item())
