"""Distil a wide teacher into a small student."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

T, ALPHA = 3.0, 0.7


def mlp(hidden):
    return nn.Sequential(nn.Linear(64, hidden), nn.ReLU(), nn.Linear(hidden, 10))


def distillation_loss(student_logits, teacher_logits, labels):
    soft = F.kl_div(
        F.log_softmax(student_logits / T, dim=1),
        F.softmax(teacher_logits / T, dim=1),
        reduction="batchmean",
    )
    return ALPHA * T * T * soft + (1 - ALPHA) * F.cross_entropy(student_logits, labels)


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def fit(model, x, y, epochs, lr, teacher=None):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    model.train()
    for _ in range(epochs):
        for rows in torch.randperm(len(x)).split(64):
            logits = model(x[rows])
            if teacher is None:
                loss = F.cross_entropy(logits, y[rows])
            else:
                with torch.no_grad():
                    guide = teacher(x[rows])
                loss = distillation_loss(logits, guide, y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(76)
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x, dtype=torch.float32) / 16, torch.tensor(y)
    train_x, train_y, test_x, test_y = x[:1300], y[:1300], x[1300:], y[1300:]
    teacher, student = mlp(128), mlp(12)
    fit(teacher, train_x, train_y, epochs=8, lr=3e-3)
    teacher.eval()
    print(f"teacher accuracy {accuracy(teacher, test_x, test_y):.3f}")
    loss = fit(student, train_x, train_y, epochs=8, lr=3e-3, teacher=teacher)
    print(f"student loss {loss:.4f} accuracy {accuracy(student, test_x, test_y):.3f}")


if __name__ == "__main__":
    main()
