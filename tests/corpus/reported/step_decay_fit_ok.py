"""Noisy quadratic fit with step decay of the learning rate."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.rand(600, 3) * 2 - 1
y = 1.5 * x[:, 0] - x[:, 1] ** 2 + 0.5 * x[:, 1] * x[:, 2] + 0.3 * torch.randn(600)
x_train, x_test, y_train, y_test = x[:450], x[450:], y[:450], y[450:]

lr = 0.02
decay_every = 8
model = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1), nn.Flatten(0))
optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
criterion = nn.MSELoss()


def epoch_of_training():
    model.train()
    total = 0.0
    for idx in torch.randperm(len(x_train)).split(5):
        optimizer.zero_grad()
        loss = criterion(model(x_train[idx]), y_train[idx])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(idx)
    return total / len(x_train)


def test_error():
    model.eval()
    with torch.no_grad():
        return criterion(model(x_test), y_test).item()


for epoch in range(24):
    if epoch > 0 and epoch % decay_every == 0:
        lr = lr * 0.1
        for group in optimizer.param_groups:
            group["lr"] = lr
        print(f"learning rate is now {lr:.5f}")
    train_error = epoch_of_training()
    if epoch % decay_every == decay_every - 1:
        print(f"epoch {epoch + 1} train {train_error:.4f} test {test_error():.4f}")
