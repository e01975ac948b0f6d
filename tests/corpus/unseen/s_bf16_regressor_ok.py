import torch
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler
from torch import nn

torch.manual_seed(0)
raw = load_diabetes()
X = torch.tensor(StandardScaler().fit_transform(raw.data), dtype=torch.float32)
y = torch.tensor((raw.target - raw.target.mean()) / raw.target.std(), dtype=torch.float32)
x_train, y_train, x_test, y_test = X[:350], y[:350], X[350:], y[350:]


class Regressor(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(10, width), nn.GELU(),
            nn.Linear(width, width), nn.GELU(),
            nn.Linear(width, 1),
        )

    def forward(self, x):
        return self.net(x).squeeze(-1)


def evaluate(model, dtype):
    with torch.no_grad():
        pred = model(x_test.to(dtype)).float()
    return nn.functional.mse_loss(pred, y_test).item()


dtype = torch.float32
model = Regressor().to(dtype)
optimizer = torch.optim.SGD(model.parameters(), lr=1.5e-3, momentum=0.0)
steps_per_epoch = 350 // 25
print(f"start test mse {evaluate(model, dtype):.4f}")

for epoch in range(40):
    perm = torch.randperm(350)
    running = 0.0
    for k in range(steps_per_epoch):
        idx = perm[k * 25:(k + 1) * 25]
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            pred = model(x_train[idx].to(dtype))
        loss = nn.functional.mse_loss(pred.float(), y_train[idx])
        loss.backward()
        optimizer.step()
        running += loss.item() / steps_per_epoch
    if epoch % 8 == 7:
        print(f"epoch {epoch + 1} train {running:.4f} test {evaluate(model, dtype):.4f}")
