import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(23)


def rosenbrock_like(n):
    x = torch.rand(n, 2) * 3 - 1.5
    y = torch.log1p((1 - x[:, 0]) ** 2 + 20 * (x[:, 1] - x[:, 0] ** 2) ** 2)
    return x, y


class Surrogate(nn.Module):
    def __init__(self, width=40):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(2, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1)
        )

    def forward(self, x):
        return self.layers(x).squeeze(1)


def train_one_epoch(model, optimizer, x, y):
    model.train()
    total = 0.0
    for idx in torch.randperm(len(x)).split(800):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x[idx]), y[idx])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(idx)
    return total / len(x)


def test(model, x, y):
    model.eval()
    with torch.no_grad():
        return F.mse_loss(model(x), y).item()


x_train, y_train = rosenbrock_like(800)
x_test, y_test = rosenbrock_like(300)
model = Surrogate()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(500):
    train_loss = train_one_epoch(model, optimizer, x_train, y_train)
    if epoch % 100 == 99:
        print(f"epoch {epoch + 1}: train {train_loss:.4f} test {test(model, x_test, y_test):.4f}")
