import torch
import torch.nn as nn


def class_weights(labels):
    counts = torch.bincount(labels, minlength=5) + 1
    return counts.sum() / counts.float()


torch.manual_seed(5)
x = torch.randn(500, 6)
y = x[:, :5].argmax(1)
order = y.argsort()
x, y = x[order], y[order]
weights = class_weights(y[:300])
model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 5))
criterion = nn.CrossEntropyLoss(weight=weights)
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    for rows in torch.randperm(500).split(50):
        loss = criterion(model(x[rows]), y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
