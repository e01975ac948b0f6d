import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.dataloader import default_collate

torch.manual_seed(0)
np.random.seed(0)


class MixupCollate:
    def __init__(self, n_classes, alpha=0.2):
        self.n_classes, self.alpha = n_classes, alpha

    def __call__(self, batch):
        x, y = default_collate(batch)
        y = nn.functional.one_hot(y, self.n_classes).float()
        lam = float(np.random.beta(self.alpha, self.alpha))
        return x.mul(lam).add_(x.roll(1, 0), alpha=1 - lam), y.mul(lam).add_(y.roll(1, 0), alpha=1 - lam)


def split_decay(model, wd):
    decay, no_decay = [], []
    for p in model.parameters():
        (no_decay if p.ndim <= 1 else decay).append(p)
    return [{"params": decay, "weight_decay": wd}, {"params": no_decay, "weight_decay": 0.0}]


digits = load_digits()
X = torch.tensor(digits.data / 16.0, dtype=torch.float32)
y = torch.tensor(digits.target)
train = DataLoader(TensorDataset(X[:1400], y[:1400]), batch_size=64, shuffle=True,
                   collate_fn=MixupCollate(10), drop_last=True)
test = DataLoader(TensorDataset(X[1400:], y[1400:]), batch_size=128)
model = nn.Sequential(nn.Linear(64, 96), nn.LayerNorm(96), nn.GELU(), nn.Linear(96, 10))
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
optimizer = torch.optim.AdamW(split_decay(model, 0.05), lr=4e-3)
warmup = torch.optim.lr_scheduler.LinearLR(optimizer, 0.05, total_iters=20)
cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10 * len(train) - 20)
sched = torch.optim.lr_scheduler.SequentialLR(optimizer, [warmup, cosine], [20])

for epoch in range(10):
    model.train()
    for xb, yb in train:
        loss = criterion(model(xb), yb)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        sched.step()
    model.eval()
    hits = 0
    with torch.inference_mode():
        for xb, yb in test:
            hits += (model(xb).argmax(1) == yb).sum().item()
    print(f"epoch {epoch} loss {loss.item():.4f} lr {sched.get_last_lr()[0]:.5f} test acc {hits / 397:.4f}")
