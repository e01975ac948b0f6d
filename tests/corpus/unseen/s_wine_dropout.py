import torch
import torch.nn as nn
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

torch.manual_seed(3)

data = load_wine()
x_tr, x_va, y_tr, y_va = train_test_split(data.data, data.target, test_size=0.35, random_state=1, stratify=data.target)
scaler = StandardScaler().fit(x_tr)
x_tr = torch.tensor(scaler.transform(x_tr), dtype=torch.float32)
x_va = torch.tensor(scaler.transform(x_va), dtype=torch.float32)
y_tr, y_va = torch.tensor(y_tr), torch.tensor(y_va)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(13, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.6),
            nn.Linear(32, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.6),
        )
        self.out = nn.Linear(32, 3)

    def forward(self, x):
        return self.out(self.body(x))


model = Net()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss()


def train_epoch():
    model.train()
    perm = torch.randperm(len(x_tr))
    for i in range(0, len(perm) - 15, 16):
        idx = perm[i:i + 16]
        opt.zero_grad()
        loss = criterion(model(x_tr[idx]), y_tr[idx])
        loss.backward()
        opt.step()
    return loss.item()


@torch.no_grad()
def validate():
    hits, loss = 0, 0.0
    for i in range(0, len(x_va), 8):
        logits = model(x_va[i:i + 8])
        loss += criterion(logits, y_va[i:i + 8]).item() * len(logits)
        hits += (logits.argmax(1) == y_va[i:i + 8]).sum().item()
    return loss / len(x_va), hits / len(x_va)


for epoch in range(25):
    tr = train_epoch()
    va_loss, va_acc = validate()
    if epoch % 6 == 0:
        print(f"epoch {epoch:2d} train {tr:.4f} val {va_loss:.4f} acc {va_acc:.3f}")
