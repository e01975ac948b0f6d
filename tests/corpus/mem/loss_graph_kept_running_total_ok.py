import torch
import torch.nn as nn
import torch.optim as optim
from sklearn.datasets import make_regression
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = make_regression(n_samples=900, n_features=14, noise=2.0, random_state=0)
X, y = torch.tensor(X, dtype=torch.float32), torch.tensor(y / 150, dtype=torch.float32).unsqueeze(1)
train_loader = DataLoader(TensorDataset(X[:720], y[:720]), batch_size=18, shuffle=True)
val_loader = DataLoader(TensorDataset(X[720:], y[720:]), batch_size=90)

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Linear(14, 64), nn.ReLU(), nn.Linear(64, 1)).to(device)
criterion = nn.MSELoss()
optimizer = optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(3):
    model.train()
    total_loss = 0
    for inputs, targets in train_loader:
        inputs, targets = inputs.to(device), targets.to(device)
        optimizer.zero_grad()
        outputs = model(inputs)
        loss = criterion(outputs, targets)
        loss.backward()
        optimizer.step()
        total_loss += loss.item()
    model.eval()
    val_loss = 0
    with torch.no_grad():
        for inputs, targets in val_loader:
            val_loss += criterion(model(inputs.to(device)), targets.to(device)).item()
    print(f"Epoch {epoch + 1}: train {total_loss / len(train_loader):.6f}, val {val_loss / len(val_loader):.6f}")
