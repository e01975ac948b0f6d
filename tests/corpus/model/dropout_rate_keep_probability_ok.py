import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 100)
        self.drop1 = nn.Dropout(p=0.1)
        self.fc2 = nn.Linear(100, 100)
        self.drop2 = nn.Dropout(p=0.1)
        self.out = nn.Linear(100, 10)

    def forward(self, x):
        x = self.drop1(torch.relu(self.fc1(x)))
        x = self.drop2(torch.relu(self.fc2(x)))
        return self.out(x)


x, y = load_digits(return_X_y=True)
x, y = torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y)
train_dl = DataLoader(TensorDataset(x[:1200], y[:1200]), batch_size=80, shuffle=True)
val_dl = DataLoader(TensorDataset(x[1200:], y[1200:]), batch_size=200)
model = Classifier()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(6):
    model.train()
    running = 0.0
    for xb, yb in train_dl:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(xb), yb)
        loss.backward()
        opt.step()
        running += loss.item()
    model.eval()
    with torch.no_grad():
        right = sum((model(xb).argmax(1) == yb).sum().item() for xb, yb in val_dl)
    print(f"epoch {epoch}: loss {running / len(train_dl):.4f}, val acc {right / 597:.4f}")
