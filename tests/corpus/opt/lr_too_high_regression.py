import torch
import torch.nn as nn
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

torch.manual_seed(0)
X, y = load_diabetes(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
x_mean, x_std = X_train.mean(0), X_train.std(0)
y_mean, y_std = y_train.mean(), y_train.std()


def prep(a, b):
    return (torch.tensor((a - x_mean) / x_std, dtype=torch.float32),
            torch.tensor((b - y_mean) / y_std, dtype=torch.float32).view(-1, 1))


X_train, y_train = prep(X_train, y_train)
X_test, y_test = prep(X_test, y_test)

model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=3.0, momentum=0.9)
criterion = nn.MSELoss()

for epoch in range(12):
    model.train()
    for idx in torch.randperm(len(X_train)).split(64):
        optimizer.zero_grad()
        loss = criterion(model(X_train[idx]), y_train[idx])
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        test_loss = criterion(model(X_test), y_test)
    print(f"epoch {epoch}: train {loss.item():.5f}, test {test_loss.item():.5f}")
