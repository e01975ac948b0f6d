import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(5)
torch.manual_seed(5)


def simulate_walks(n, steps=16):
    """Left limp, right limp or both: a jolt on one or two foot sensors early in the stride."""
    y = rng.integers(0, 3, n)
    x = 0.2 * rng.normal(size=(n, steps, 2)).astype(np.float32)
    for i, c in enumerate(y):
        when = rng.integers(2, 9)
        if c in (0, 2):
            x[i, when:when + 2, 0] += 1.5
        if c in (1, 2):
            x[i, when:when + 2, 1] += 1.5
    return torch.from_numpy(x), torch.from_numpy(y)


class GaitNet(nn.Module):
    def __init__(self, n_features=2, hidden=32, n_classes=3):
        super().__init__()
        self.lstm = nn.LSTM(n_features, hidden, batch_first=True)
        self.classifier = nn.Linear(hidden, n_classes)

    def forward(self, x):
        # x: (batch, time, features)
        out, _ = self.lstm(x)
        return self.classifier(out[:, -1])


def run_epoch(model, loader, opt=None):
    loss_sum, hits, n = 0.0, 0, 0
    for xb, yb in loader:
        logits = model(xb)
        loss = nn.functional.cross_entropy(logits, yb)
        if opt is not None:
            opt.zero_grad()
            loss.backward()
            opt.step()
        loss_sum += loss.item() * len(xb)
        hits += (logits.argmax(1) == yb).sum().item()
        n += len(xb)
    return loss_sum / n, hits / n


train = DataLoader(TensorDataset(*simulate_walks(480)), batch_size=32, shuffle=True)
valid = DataLoader(TensorDataset(*simulate_walks(160)), batch_size=32)
model = GaitNet()
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(6):
    model.train()
    tr_loss, tr_acc = run_epoch(model, train, opt)
    model.eval()
    with torch.no_grad():
        va_loss, va_acc = run_epoch(model, valid)
    print(f"{epoch:02d} train {tr_loss:.3f}/{tr_acc:.3f} valid {va_loss:.3f}/{va_acc:.3f}")
