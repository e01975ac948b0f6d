import torch
import torch.nn as nn
from sklearn.datasets import load_digits


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())

    def forward(self, x):
        return self.layers(x)


def digits_of(classes, n):
    d = load_digits()
    rows = [i for i, t in enumerate(d.target) if t in classes][:n]
    X = torch.tensor(d.data[rows] / 16.0, dtype=torch.float32)
    return X, torch.tensor([classes.index(int(d.target[i])) for i in rows])


def fit(net, params, X, y, steps, lr):
    opt = torch.optim.SGD(params, lr=lr, momentum=0.9)
    for s in range(steps):
        idx = torch.randint(0, len(X), (32,))
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(X[idx]), y[idx])
        loss.backward()
        opt.step()
        if s % 50 == 0:
            print(f"    step {s:3d} loss {loss.item():.4f}")


def accuracy(net, X, y):
    with torch.no_grad():
        return (net(X).argmax(1) == y).float().mean().item()


torch.manual_seed(15)
backbone = Backbone()
Xa, ya = digits_of([0, 1, 2, 3, 4, 5], 900)
task_a = nn.Sequential(backbone, nn.Linear(32, 6))
print("task A (shared backbone)")
fit(task_a, task_a.parameters(), Xa[:700], ya[:700], 200, 0.05)
print("task A accuracy", accuracy(task_a, Xa[700:], ya[700:]))

# keep the shared backbone fixed so that task A stays valid, train a new head
for param in backbone.parameters():
    param.require_grad = False

Xb, yb = digits_of([6, 7, 8, 9], 600)
task_b = nn.Sequential(backbone, nn.Linear(32, 4))
print("task B (new head)")
trainable = [p for p in task_b.parameters() if p.requires_grad]
fit(task_b, trainable, Xb[:450], yb[:450], 200, 0.05)
print("task B accuracy", accuracy(task_b, Xb[450:], yb[450:]))
print("task A accuracy after task B", accuracy(task_a, Xa[700:], ya[700:]))
