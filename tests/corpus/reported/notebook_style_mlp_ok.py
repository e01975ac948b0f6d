import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(23)

X, y = load_digits(return_X_y=True)
X = torch.tensor(X / 16.0, dtype=torch.float32)
y = torch.tensor(y)
train_X, train_y = X[:1500], y[:1500]
test_X, test_y = X[1500:], y[1500:]

dl = DataLoader(TensorDataset(train_X, train_y), batch_size=100, shuffle=True)

model = nn.Sequential(
    nn.Linear(64, 48),
    nn.ReLU(),
    nn.Linear(48, 10),
)
loss = nn.CrossEntropyLoss()
opt = torch.optim.Adam(model.parameters(), lr=0.005)

for epoch in range(5):
    total = 0
    for xb, yb in dl:
        outputs = model(xb)
        value = loss(outputs, yb)
        opt.zero_grad()
        value.backward()
        opt.step()
        total += value.item()
    print("epoch", epoch, "loss", total / len(dl))

with torch.no_grad():
    pred = model(test_X).argmax(dim=1)
print("accuracy", (pred == test_y).float().mean().item())
