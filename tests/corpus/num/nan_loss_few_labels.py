import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
digits = load_digits()
x = torch.tensor(digits.data[:600] / 16.0, dtype=torch.float32)
y = torch.tensor(digits.target[:600])
x_val, y_val = x[480:], y[480:]
labelled = (torch.rand(480) < 0.2).float()          # only a few labels may be used
loader = DataLoader(TensorDataset(x[:480], y[:480], labelled), batch_size=12, shuffle=True)


class Semi(nn.Module):
    """A classifier that also reconstructs its input."""

    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(64, 32), nn.ReLU())
        self.cls = nn.Linear(32, 10)
        self.rec = nn.Linear(32, 64)

    def forward(self, x):
        h = self.enc(x)
        return self.cls(h), self.rec(h)


net = Semi()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(5):
    net.train()
    running = 0.0
    for xb, yb, known in loader:
        logits, rec = net(xb)
        each = F.cross_entropy(logits, yb, reduction="none")
        supervised = (each * known).sum() / known.sum()
        loss = 0.5 * supervised + F.mse_loss(rec, xb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item()
    net.eval()
    with torch.no_grad():
        acc = (net(x_val)[0].argmax(1) == y_val).float().mean().item()
    print(f"epoch {epoch} loss {running / len(loader):.5f} val acc {acc:.4f}")
