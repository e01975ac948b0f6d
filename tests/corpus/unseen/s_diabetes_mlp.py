import warnings

import numpy as np
import torch
from sklearn.datasets import load_diabetes
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split

warnings.filterwarnings("ignore")
torch.manual_seed(0)


class DiabetesData(Dataset):
    def __init__(self):
        raw = load_diabetes()
        self.x = torch.from_numpy(raw.data.astype(np.float32)) * 20
        y = raw.target.astype(np.float32)
        self.y = torch.from_numpy((y - y.mean()) / y.std())

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


ds = DiabetesData()
train_ds, val_ds = random_split(ds, [342, 100], generator=torch.Generator().manual_seed(2))
train_loader = DataLoader(train_ds, batch_size=38, shuffle=True)
val_loader = DataLoader(val_ds, batch_size=100)

model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
mse = nn.MSELoss()


def r2(loader):
    preds, targets = [], []
    with torch.no_grad():
        for xb, yb in loader:
            preds.append(model(xb).flatten())
            targets.append(yb.flatten())
    p, t = torch.cat(preds), torch.cat(targets)
    return 1 - ((p - t) ** 2).sum().item() / ((t - t.mean()) ** 2).sum().item()


for epoch in range(20):
    epoch_loss = 0.0
    for xb, yb in train_loader:
        pred = model(xb)
        loss = mse(pred, yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item() / len(train_loader)
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1} mse {epoch_loss:.4f} val R2 {r2(val_loader):.3f}")
