import argparse

import torch
import torch.nn as nn
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument('--lr', default=0.02, type=float)
parser.add_argument('--patience', default=1, type=int)
parser.add_argument('--epochs', default=10, type=int)
opt = parser.parse_args()
torch.manual_seed(100)

x, y = load_diabetes(return_X_y=True)
x_tr, x_va, y_tr, y_va = train_test_split(x, y, test_size=0.25, random_state=100)
xm, xs, ym, ys = x_tr.mean(0), x_tr.std(0), y_tr.mean(), y_tr.std()


def dataset(a, b):
    return TensorDataset(torch.tensor((a - xm) / xs).float(), torch.tensor((b - ym) / ys).float().unsqueeze(1))


train_loader = DataLoader(dataset(x_tr, y_tr), batch_size=33, shuffle=True)
val_loader = DataLoader(dataset(x_va, y_va), batch_size=111)
model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=opt.lr, momentum=0.9)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode='min', factor=0.3, patience=opt.patience, verbose=True)
criterion = nn.MSELoss()

for epoch in range(opt.epochs):
    model.train()
    for xb, yb in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        val_loss = sum(criterion(model(xb), yb).item() for xb, yb in val_loader) / len(val_loader)
    scheduler.step(val_loss)
    print(f'epoch {epoch} val {val_loss:.6f} lr {optimizer.param_groups[0]["lr"]:.5f}')
