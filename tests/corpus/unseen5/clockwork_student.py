"""Distil a wide digit classifier into a tiny one using only soft targets."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


def mlp(*sizes):
    layers = []
    for a, b in zip(sizes[:-2], sizes[1:-1]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(sizes[-2], sizes[-1]))


class Distiller:
    def __init__(self, teacher, student, T=3.0, lr=5e-3):
        self.teacher, self.student, self.T = teacher.eval(), student, T
        self.opt = torch.optim.Adam(student.parameters(), lr=lr)

    def step(self, x):
        with torch.no_grad():
            soft = F.softmax(self.teacher(x) / self.T, dim=1)
        pred = F.softmax(self.student(x) / self.T, dim=1)
        loss = F.kl_div(pred, soft, reduction="batchmean") * self.T ** 2
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


def accuracy(model, x, y):
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(3)
    d = load_digits()
    x, y = torch.tensor(d.data / 16.0, dtype=torch.float32), torch.tensor(d.target)
    x_tr, y_tr, x_te, y_te = x[:1300], y[:1300], x[1300:], y[1300:]
    teacher = mlp(64, 128, 64, 10)
    opt = torch.optim.Adam(teacher.parameters(), lr=2e-3)
    for _ in range(12):
        for idx in torch.randperm(1300).split(65):
            opt.zero_grad()
            F.cross_entropy(teacher(x_tr[idx]), y_tr[idx]).backward()
            opt.step()
    print("teacher accuracy", round(accuracy(teacher, x_te, y_te), 4))
    student = mlp(64, 16, 10)
    distiller = Distiller(teacher, student)
    for epoch in range(10):
        losses = [distiller.step(x_tr[idx]) for idx in torch.randperm(1300).split(65)]
        print(f"epoch {epoch} kd loss {sum(losses) / len(losses):.4f} student {accuracy(student, x_te, y_te):.4f}")


if __name__ == "__main__":
    main()
