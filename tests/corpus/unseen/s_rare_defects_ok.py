import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.manual_seed(0)


def parts(n, p_defect=(0.8, 0.12, 0.08)):
    y = torch.multinomial(torch.tensor(p_defect), n, replacement=True)
    x = torch.randn(n, 8)
    x[y == 1, 0:3] += 1.5
    x[y == 2, 3:6] -= 1.5
    return x, y


x_train, y_train = parts(1500)
x_test, y_test = parts(900)
counts = torch.bincount(y_train, minlength=3)
class_weights = 1.0 / counts.float()
sample_weights = class_weights[y_train]
sampler = WeightedRandomSampler(sample_weights, num_samples=len(y_train), replacement=True)
loader = DataLoader(TensorDataset(x_train, y_train), batch_size=50, sampler=sampler)

model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
opt = torch.optim.Adam(model.parameters(), lr=3e-3)


def recalls():
    model.eval()
    with torch.no_grad():
        pred = model(x_test).argmax(1)
    return [(pred[y_test == c] == c).float().mean().item() for c in range(3)]


for epoch in range(8):
    model.train()
    total = 0.0
    for xb, yb in loader:
        opt.zero_grad()
        loss = F.cross_entropy(model(xb), yb)
        loss.backward()
        opt.step()
        total += loss.item()
    r = recalls()
    print(f"epoch {epoch} loss {total / len(loader):.4f} recall " + " ".join(f"{v:.3f}" for v in r)
          + f" balanced acc {sum(r) / 3:.3f}")
