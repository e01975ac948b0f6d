"""Distil a wide teacher into a small student on few labelled digits."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

TEMPERATURE = 3.0


def mlp(width):
    return nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, 10))


def soft_loss(student_logits, teacher_logits):
    teacher = F.softmax(teacher_logits / TEMPERATURE, dim=1)
    student = F.log_softmax(student_logits / TEMPERATURE, dim=1)
    return F.kl_div(student, teacher, reduction="batchmean") * TEMPERATURE**2


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


def fit(model, step_loss, n, epochs, lr):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for epoch in range(epochs):
        model.train()
        for idx in torch.randperm(n).split(64):
            optimizer.zero_grad()
            loss = step_loss(idx)
            loss.backward()
            optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(0)
    x, y = load_digits(return_X_y=True)
    order = torch.randperm(len(x))
    x = (torch.tensor(x, dtype=torch.float32) / 16)[order]
    y = torch.tensor(y)[order]
    x_train, y_train, x_test, y_test = x[:1400], y[:1400], x[1400:], y[1400:]

    teacher = mlp(256)
    fit(teacher, lambda i: F.cross_entropy(teacher(x_train[i]), y_train[i]), 1400, 12, 2e-3)
    print(f"teacher accuracy {accuracy(teacher, x_test, y_test):.3f}")
    with torch.no_grad():
        targets = teacher(x_train)

    student = mlp(12)
    final = fit(student, lambda i: soft_loss(student(x_train[i]), targets[i]), 1400, 15, 3e-3)
    print(f"distillation loss {final:.4f} student accuracy {accuracy(student, x_test, y_test):.3f}")


if __name__ == "__main__":
    main()
