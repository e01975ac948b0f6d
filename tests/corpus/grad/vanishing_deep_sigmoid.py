import torch
import torch.nn as nn
from sklearn.datasets import load_digits

torch.manual_seed(0)
X, y = load_digits(return_X_y=True)
X = torch.tensor(X / 16.0, dtype=torch.float32)
y = torch.tensor(y)


def deep_net(depth=10, width=32):
    layers = [nn.Linear(64, width), nn.Sigmoid()]
    for _ in range(depth):
        layers += [nn.Linear(width, width), nn.Sigmoid()]
    layers.append(nn.Linear(width, 10))
    return nn.Sequential(*layers)


model = deep_net()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
criterion = nn.CrossEntropyLoss()

for epoch in range(4):
    running_loss = 0.0
    for i, idx in enumerate(torch.randperm(len(X)).split(90)):
        optimizer.zero_grad()
        loss = criterion(model(X[idx]), y[idx])
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
    print(f"epoch {epoch + 1}, loss: {running_loss / (i + 1):.6f}")
