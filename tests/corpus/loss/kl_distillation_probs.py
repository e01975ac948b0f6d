import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(0)
T, ALPHA = 3.0, 0.7

d = load_digits()
x = torch.tensor(d.data[:700] / 16.0, dtype=torch.float32)
y = torch.tensor(d.target[:700])
x_train, y_train, x_val, y_val = x[:560], y[:560], x[560:], y[560:]


def mlp(width):
    return nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, 10))


def accuracy(net):
    net.eval()
    with torch.no_grad():
        return (net(x_val).argmax(1) == y_val).float().mean().item()


def fit_teacher(net, steps=60):
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    for _ in range(steps):
        i = torch.randint(0, 560, (64,))
        opt.zero_grad()
        F.cross_entropy(net(x_train[i]), y_train[i]).backward()
        opt.step()
    return net.eval().requires_grad_(False)


def distillation_loss(student_logits, teacher_logits, labels):
    soft_student = F.softmax(student_logits / T, dim=1)
    soft_teacher = F.softmax(teacher_logits / T, dim=1)
    soft = F.kl_div(soft_student, soft_teacher, reduction="batchmean") * T * T
    hard = F.cross_entropy(student_logits, labels)
    return ALPHA * soft + (1 - ALPHA) * hard


teacher = fit_teacher(mlp(96))
print(f"teacher accuracy {accuracy(teacher):.4f}")

student = mlp(12)
opt = torch.optim.Adam(student.parameters(), lr=1e-2)
for step in range(80):
    i = torch.randint(0, 560, (64,))
    with torch.no_grad():
        t_logits = teacher(x_train[i])
    loss = distillation_loss(student(x_train[i]), t_logits, y_train[i])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 0 or step == 79:
        print(f"step {step:3d} loss {loss.item():.6f}")
print(f"student accuracy {accuracy(student):.4f}")
