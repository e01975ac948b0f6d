# regression with gradient accumulation to save memory
import torch
import torch.nn.functional as F
from sklearn.datasets import load_diabetes
from torch import nn

torch.manual_seed(1)
x, y = load_diabetes(return_X_y=True)
order = torch.randperm(len(x))
x = torch.tensor(x, dtype=torch.float32)[order]
y = torch.tensor(y, dtype=torch.float32)[order]
n_train = 352
x_mean, x_std = x[:n_train].mean(0), x[:n_train].std(0)
y_mean, y_std = y[:n_train].mean(), y[:n_train].std()
x, y = (x - x_mean) / x_std, (y - y_mean) / y_std
x_train, y_train, x_test, y_test = x[:n_train], y[:n_train], x[n_train:], y[n_train:]

BATCH = 11
ACCUMULATION = 16
LR = 0.04


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(10, 32)
        self.b = nn.Linear(32, 1)

    def forward(self, x):
        return self.b(torch.tanh(self.a(x))).squeeze(1)


model = Regressor()
optimizer = torch.optim.SGD(model.parameters(), lr=LR, momentum=0.5)
print("effective batch size", BATCH * ACCUMULATION)

for epoch in range(1, 41):
    model.train()
    optimizer.zero_grad()
    total = 0.0
    for i, idx in enumerate(torch.randperm(n_train).split(BATCH), start=1):
        loss = F.mse_loss(model(x_train[idx]), y_train[idx])
        loss.backward()
        if i % ACCUMULATION == 0:
            optimizer.step()
            optimizer.zero_grad()
        total += loss.item() * len(idx)
    if epoch % 10 == 0:
        model.eval()
        with torch.no_grad():
            test_mse = F.mse_loss(model(x_test), y_test).item()
        print(f"epoch {epoch} train {total / n_train:.3f} test {test_mse:.3f}")
