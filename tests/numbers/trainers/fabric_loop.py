"""Lightning Fabric: a loop of one's own, fabric.backward, validation by hand."""

import lightning as L
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(330, 12)
y = (x[:, :4].sum(1) > 0).long() + (x[:, 4] > 0).long()
fabric = L.Fabric(accelerator="cpu", devices=1)
fabric.launch()
model = nn.Linear(12, 3)
model, optimizer = fabric.setup(model, torch.optim.SGD(model.parameters(), lr=0.1))
train_loader = fabric.setup_dataloaders(DataLoader(TensorDataset(x[:250], y[:250]), 50, shuffle=True))
val_loader = fabric.setup_dataloaders(DataLoader(TensorDataset(x[250:], y[250:]), 30))
for epoch in range(3):
    model.train()
    for batch, target in train_loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(batch), target)
        fabric.backward(loss)
        optimizer.step()
    fabric.print(f"epoch {epoch} loss {loss.item():.4f}")
    model.eval()
    total, right = 0.0, 0
    with torch.no_grad():
        for batch, target in val_loader:
            output = model(batch)
            total += F.cross_entropy(output, target, reduction="sum").item()
            right += (output.argmax(1) == target).sum().item()
    fabric.print(f"validation: loss {total / 80:.4f}, acc {100 * right / 80:.2f}%")
