import torch
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_diabetes(return_X_y=True, scaled=True)
X = X * 20
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=42)
y_mean, y_std = y_train.mean(), y_train.std()

train_ds = TensorDataset(
    torch.tensor(X_train, dtype=torch.float32),
    torch.tensor((y_train - y_mean) / y_std, dtype=torch.float32),
)
test_ds = TensorDataset(
    torch.tensor(X_test, dtype=torch.float32),
    torch.tensor((y_test - y_mean) / y_std, dtype=torch.float32),
)
train_loader = DataLoader(train_ds, batch_size=40, shuffle=True)
test_loader = DataLoader(test_ds, batch_size=40)

model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
loss_fn = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)


def train_loop():
    model.train()
    total = 0.0
    for xb, yb in train_loader:
        pred = model(xb)
        loss = loss_fn(pred, yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(train_loader)


def test_loop():
    model.eval()
    total = 0.0
    with torch.no_grad():
        for xb, yb in test_loader:
            total += loss_fn(model(xb), yb).item()
    return total / len(test_loader)


for epoch in range(8):
    print(f"epoch {epoch + 1}  train {train_loop():.5f}  test {test_loop():.5f}")
