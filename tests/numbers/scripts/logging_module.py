"""Lines of the logging module, with time and level."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(330, 12)
y = (x[:, :4].sum(1) > 0).long() + (x[:, 4] > 0).long()
train_set, test_set = TensorDataset(x[:250], y[:250]), TensorDataset(x[250:], y[250:])
import logging
import sys

logging.basicConfig(
    stream=sys.stdout, level=logging.INFO, format="%(asctime)s - %(name)s - %(levelname)s - %(message)s"
)
log = logging.getLogger("trainer")
loader = DataLoader(train_set, 50)
model = nn.Linear(12, 3)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for epoch in range(3):
    for xb, yb in loader:
        loss = F.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        out = model(x[250:])
        val, acc = F.cross_entropy(out, y[250:]).item(), (out.argmax(1) == y[250:]).float().mean().item()
    log.info("epoch %d train_loss=%.4f val_loss=%.4f val_acc=%.3f", epoch, loss.item(), val, acc)
