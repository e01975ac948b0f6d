import torch
import torch.nn as nn
import torch.nn.functional as F


def net(width):
    return nn.Sequential(nn.Linear(8, width), nn.ReLU(), nn.Linear(width, 4))


def kd_loss(student_logits, teacher_logits, T=2.0):
    log_p = F.log_softmax(student_logits / T, dim=1)
    q = F.softmax(teacher_logits / T, dim=1)
    return F.kl_div(log_p, q, reduction="batchmean") * T * T


def batches(x, y, size):
    for idx in torch.randperm(len(x)).split(size):
        yield x[idx], y[idx]


def train_teacher(x, y):
    teacher = net(64)
    opt = torch.optim.Adam(teacher.parameters(), lr=5e-3)
    for _ in range(6):
        for xb, yb in batches(x, y, 40):
            loss = F.cross_entropy(teacher(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
    print(f"teacher {loss.item():.6f}")
    return teacher.eval()


def distill(teacher, x, y, epochs=8):
    student = net(12)
    opt = torch.optim.Adam(student.parameters(), lr=8e-3)
    for epoch in range(epochs):
        total = n = 0
        for xb, yb in batches(x, y, 40):
            with torch.no_grad():
                soft = teacher(xb)
            out = student(xb)
            loss = kd_loss(out, soft)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total, n = total + loss.item() * len(xb), n + len(xb)
        print(f"student epoch {epoch} kd {total / n:.6f}")


torch.manual_seed(73)
x = torch.randn(400, 8)
y = (x[:, 0] > 0).long() * 2 + (x[:, 1] * x[:, 2] > 0).long()
distill(train_teacher(x, y), x, y)
