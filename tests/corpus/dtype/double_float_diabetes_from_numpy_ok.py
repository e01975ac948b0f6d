import numpy as np
import torch
from torch import nn
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

torch.manual_seed(0)
np.random.seed(0)

data = load_diabetes()
X_train, X_test, y_train, y_test = train_test_split(data.data, data.target, test_size=0.25, random_state=0)

x_scaler = StandardScaler().fit(X_train)
y_scaler = StandardScaler().fit(y_train.reshape(-1, 1))

X_train = torch.from_numpy(x_scaler.transform(X_train)).float()
X_test = torch.from_numpy(x_scaler.transform(X_test)).float()
y_train = torch.from_numpy(y_scaler.transform(y_train.reshape(-1, 1))).float()
y_test = torch.from_numpy(y_scaler.transform(y_test.reshape(-1, 1))).float()

model = nn.Sequential(
    nn.Linear(10, 32),
    nn.ReLU(),
    nn.Linear(32, 1),
)

criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

for epoch in range(40):
    model.train()
    optimizer.zero_grad()
    y_pred = model(X_train)
    loss = criterion(y_pred, y_train)
    loss.backward()
    optimizer.step()

    if (epoch + 1) % 10 == 0:
        model.eval()
        with torch.no_grad():
            test_loss = criterion(model(X_test), y_test)
        print(f'Epoch [{epoch + 1}/40], Loss: {loss.item():.4f}, Test: {test_loss.item():.4f}')
