import torch
import torch.nn as nn
from sklearn.datasets import load_digits

torch.manual_seed(1)
data = load_digits()
X = torch.tensor(data.data / 16.0, dtype=torch.float32)
y = torch.tensor(data.target)
source, target = y < 6, y >= 6


class Backbone(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 48), nn.ReLU())
        self.fc = nn.Linear(48, n_out)

    def forward(self, x):
        return self.fc(self.features(x))


def run_epochs(model, x, labels, optimizer, n_epochs, batch=64):
    criterion = nn.CrossEntropyLoss()
    for epoch in range(n_epochs):
        order = torch.randperm(len(x))
        for i in range(0, len(x), batch):
            idx = order[i:i + batch]
            optimizer.zero_grad()
            loss = criterion(model(x[idx]), labels[idx])
            loss.backward()
            optimizer.step()
        print(f"  epoch {epoch}: {loss.item():.4f}")


print("pretraining on the source classes")
model = Backbone(6)
run_epochs(model, X[source], y[source], torch.optim.Adam(model.parameters(), lr=2e-3), 4)

print("adapting to the target classes")
for p in model.parameters():
    p.requires_grad = False
model.fc = nn.Linear(48, 4)
optimizer = torch.optim.Adam(model.fc.parameters(), lr=5e-3)
xt, yt = X[target], y[target] - 6
n_train = int(0.8 * len(xt))
run_epochs(model, xt[:n_train], yt[:n_train], optimizer, 8)

with torch.no_grad():
    acc = (model(xt[n_train:]).argmax(1) == yt[n_train:]).float().mean()
print("target accuracy", acc.item())
