import numpy as np
import torch
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

np.random.seed(2)
torch.manual_seed(2)

X, y = load_breast_cancer(return_X_y=True)
X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.2, random_state=2, stratify=y)
sc = StandardScaler()
X_tr = torch.tensor(sc.fit_transform(X_tr), dtype=torch.float32)
X_te = torch.tensor(sc.transform(X_te), dtype=torch.float32)
y_tr = torch.tensor(y_tr, dtype=torch.float32).view(-1, 1)
y_te = torch.tensor(y_te, dtype=torch.float32).view(-1, 1)


class ChurnNet(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.layer_1 = nn.Linear(n_in, 32)
        self.layer_2 = nn.Linear(32, 16)
        self.layer_out = nn.Linear(16, 1)
        self.relu = nn.ReLU()
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        x = self.relu(self.layer_1(x))
        x = self.dropout(self.relu(self.layer_2(x)))
        return torch.sigmoid(self.layer_out(x))


model = ChurnNet(30)
criterion = nn.BCELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
loader = DataLoader(TensorDataset(X_tr, y_tr), batch_size=32, shuffle=True)

for epoch in range(10):
    model.train()
    epoch_loss, epoch_hits = 0.0, 0
    for xb, yb in loader:
        optimizer.zero_grad()
        prob = model(xb)
        loss = criterion(prob, yb)
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item() * len(xb)
        epoch_hits += (prob.round() == yb).sum().item()
    print(f"Epoch {epoch:02d} | loss {epoch_loss / len(X_tr):.4f} | acc {epoch_hits / len(X_tr):.3f}")

model.eval()
with torch.no_grad():
    print("test accuracy", (model(X_te).round() == y_te).float().mean().item())
