"""A bar of Keras' shape, with its numbers behind it."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(330, 12)
y = (x[:, :4].sum(1) > 0).long() + (x[:, 4] > 0).long()
train_set, test_set = TensorDataset(x[:250], y[:250]), TensorDataset(x[250:], y[250:])
model = nn.Linear(12, 3)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for epoch in range(3):
    print(f"Epoch {epoch + 1}/3")
    for xb, yb in DataLoader(train_set, 50):
        out = model(xb)
        loss = F.cross_entropy(out, yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    acc = (out.argmax(1) == yb).float().mean().item()
    with torch.no_grad():
        val = F.cross_entropy(model(x[250:]), y[250:]).item()
    print(
        f"5/5 [==============================] - 0s 3ms/step - loss: {loss.item():.4f} - accuracy: {acc:.4f} - val_loss: {val:.4f}"
    )
