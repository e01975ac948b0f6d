import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.fc = nn.Linear(d, d)

    def forward(self, x):
        return torch.tanh(self.fc(x))


class DeepRegressor(nn.Module):
    def __init__(self, d_in=2, d=24, depth=3):
        super().__init__()
        self.stem = nn.Linear(d_in, d)
        self.blocks = nn.ModuleList([Block(d) for _ in range(depth)])
        self.out = nn.Linear(d, 1)

    def forward(self, x):
        h = torch.tanh(self.stem(x))
        for block in self.blocks:
            h = block(h)
        return self.out(h)


def surface(n):
    x = torch.rand(n, 2) * 4 - 2
    y = torch.sin(3 * x[:, :1]) * torch.cos(2 * x[:, 1:])
    return x, y


x_train, y_train = surface(1500)
x_test, y_test = surface(400)
model = DeepRegressor()
print("parameters:", sum(p.numel() for p in model.parameters()))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(15):
    perm = torch.randperm(len(x_train))
    for idx in perm.split(75):
        loss = F.mse_loss(model(x_train[idx]), y_train[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 3 == 2:
        with torch.no_grad():
            print(f"epoch {epoch + 1} train {loss.item():.4f} test {F.mse_loss(model(x_test), y_test).item():.4f}")
