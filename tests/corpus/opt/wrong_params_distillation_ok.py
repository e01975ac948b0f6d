import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import make_moons

torch.manual_seed(0)
X, y = make_moons(600, noise=0.15, random_state=0)
X = torch.as_tensor(X, dtype=torch.float32); y = torch.as_tensor(y)


def mlp(width):
    return nn.Sequential(nn.Linear(2, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 2))


def batches(n, size=60):
    yield from torch.randperm(n).split(size)


teacher = mlp(48)
teacher_opt = torch.optim.Adam(teacher.parameters(), lr=1e-2)
for epoch in range(4):
    for idx in batches(len(X)):
        loss = F.cross_entropy(teacher(X[idx]), y[idx])
        teacher_opt.zero_grad(); loss.backward(); teacher_opt.step()
print("teacher", f"{loss.item():.5f}")

teacher.eval()
student = mlp(8)
student_opt = torch.optim.Adam(student.parameters(), lr=1e-2)
T = 2.0
for epoch in range(6):
    for idx in batches(len(X)):
        with torch.no_grad():
            soft = F.softmax(teacher(X[idx]) / T, dim=1)
        logp = F.log_softmax(student(X[idx]) / T, dim=1)
        loss = F.kl_div(logp, soft, reduction="batchmean") * T * T
        student_opt.zero_grad()
        loss.backward()
        student_opt.step()
    print(f"distill epoch {epoch}: {loss.item():.5f}")
