import torch
import torch.nn.functional as F
from sklearn.datasets import load_diabetes

torch.manual_seed(6)
X, y = load_diabetes(return_X_y=True)
X, y = torch.tensor(X, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)
train, test = slice(0, 360), slice(360, None)
mu, sd = X[train].mean(0), X[train].std(0)
X = (X - mu) / sd
ym, ys = y[train].mean(), y[train].std()
y = ((y - ym) / ys).unsqueeze(1)
# recent patients count more
age = torch.linspace(0.2, 1.0, 360)

net = torch.nn.Sequential(torch.nn.Linear(10, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-3)


def weighted_mse(pred, target, w):
    err = (pred - target).pow(2)
    return torch.dot(err, w) / w.sum()


for epoch in range(12):
    order = torch.randperm(360)
    total = 0.
    for i in range(0, 360, 60):
        b = order[i:i + 60]
        loss = weighted_mse(net(X[train][b]), y[train][b], age[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() / 6
    if epoch % 3 == 2:
        with torch.no_grad():
            held_out = F.mse_loss(net(X[test]), y[test]).item()
        print(f'{epoch + 1:3d} weighted {total:.6f} held-out {held_out:.6f}')
