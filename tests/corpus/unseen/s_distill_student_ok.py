import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(6)
raw = load_digits()
X = torch.tensor(raw.data, dtype=torch.float32) / 16
y = torch.tensor(raw.target)
train = TensorDataset(X[:1300], y[:1300])
loader = DataLoader(train, batch_size=65, shuffle=True)
X_test, y_test = X[1300:], y[1300:]


def accuracy(m):
    m.eval()
    with torch.no_grad():
        return (m(X_test).argmax(1) == y_test).float().mean().item()


def train_teacher(epochs=10):
    teacher = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    opt = torch.optim.Adam(teacher.parameters(), lr=3e-3)
    for _ in range(epochs):
        for xb, yb in loader:
            opt.zero_grad()
            F.cross_entropy(teacher(xb), yb).backward()
            opt.step()
    return teacher


def distill(teacher, epochs=8, temperature=3.0):
    student = nn.Sequential(nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 10))
    opt = torch.optim.Adam(student.parameters(), lr=5e-3)
    kl = nn.KLDivLoss(reduction="batchmean")
    teacher.eval()
    for epoch in range(epochs):
        student.train()
        for xb, _ in loader:
            with torch.no_grad():
                soft = F.softmax(teacher(xb) / temperature, dim=1)
            pred = F.log_softmax(student(xb) / temperature, dim=1)
            loss = kl(pred, soft) * temperature ** 2
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"distill epoch {epoch} loss {loss.item():.4f} acc {accuracy(student):.4f}")
    return student


teacher = train_teacher()
print("teacher", accuracy(teacher))
student = distill(teacher)
with torch.no_grad():
    agree = (student(X_test).argmax(1) == teacher(X_test).argmax(1)).float().mean().item()
    gap = F.kl_div(F.log_softmax(student(X_test), 1), F.softmax(teacher(X_test), 1), reduction="batchmean")
print(f"student {accuracy(student):.4f} agreement {agree:.4f} kl to teacher {gap.item():.4f}")
