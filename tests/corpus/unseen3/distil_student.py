import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(2)
d = load_digits()
X = torch.tensor(d.data / 16.0, dtype=torch.float32)
y = torch.tensor(d.target)
X_tr, y_tr, X_te, y_te = X[:1300], y[:1300], X[1300:], y[1300:]


def mlp(width):
    return nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, 10))


def accuracy(net):
    with torch.no_grad():
        return (net(X_te).argmax(1) == y_te).float().mean().item()


teacher = mlp(128)
opt = torch.optim.Adam(teacher.parameters(), lr=2e-3)
for epoch in range(10):
    for idx in torch.randperm(len(X_tr)).split(64):
        opt.zero_grad()
        F.cross_entropy(teacher(X_tr[idx]), y_tr[idx]).backward()
        opt.step()
print(f"teacher accuracy {accuracy(teacher):.3f}")

TEMP = 3.0
student = mlp(16)
opt = torch.optim.Adam(student.parameters(), lr=3e-3)
for epoch in range(10):
    total = 0.0
    for idx in torch.randperm(len(X_tr)).split(64):
        with torch.no_grad():
            soft = F.softmax(teacher(X_tr[idx]) / TEMP, dim=1)
        logits = student(X_tr[idx])
        kd = F.kl_div(F.softmax(logits / TEMP, dim=1), soft, reduction="batchmean") * TEMP ** 2
        opt.zero_grad()
        kd.backward()
        opt.step()
        total += kd.item()
    print(f"epoch {epoch} distillation loss {total / 21:.4f}")
print(f"student accuracy {accuracy(student):.3f}")
