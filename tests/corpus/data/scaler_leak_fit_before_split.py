import torch
import torch.nn as nn
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)
X, y = load_diabetes(return_X_y=True, scaled=False)
y = y.reshape(-1, 1) / 100.0

scaler = StandardScaler()
X = scaler.fit_transform(X)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=5)

train_ds = TensorDataset(torch.tensor(X_train).float(), torch.tensor(y_train).float())
train_dl = DataLoader(train_ds, batch_size=32, shuffle=True)
X_test, y_test = torch.tensor(X_test).float(), torch.tensor(y_test).float()


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(10, 32)
        self.fc2 = nn.Linear(32, 1)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


model = Regressor()
loss_fn = nn.SmoothL1Loss()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(8):
    model.train()
    for xb, yb in train_dl:
        opt.zero_grad()
        loss = loss_fn(model(xb), yb)
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        test_loss = loss_fn(model(X_test), y_test)
    print(f"epoch {epoch}, loss {loss.item():.5f}, test {test_loss.item():.5f}")
