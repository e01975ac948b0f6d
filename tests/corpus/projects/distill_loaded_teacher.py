"""Distillation: the teacher comes from a file, the student sees no labels."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


class Teacher(nn.Module):
    def __init__(self, width=96, dropout=0.4):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(64, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(dropout),
            nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(dropout),
        )
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        return self.head(self.body(x))


class Student(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 24), nn.ReLU(), nn.Linear(24, 10))

    def forward(self, x):
        return self.net(x)


def pretrain(x, y, path):
    model = Teacher()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for _ in range(6):
        for rows in torch.randperm(len(x)).split(64):
            optimizer.zero_grad()
            F.cross_entropy(model(x[rows]), y[rows]).backward()
            optimizer.step()
    torch.save(model.state_dict(), path)


def load_teacher(path):
    teacher = Teacher()
    teacher.load_state_dict(torch.load(path))
    teacher.requires_grad_(False)
    return teacher


def distill(teacher, x, epochs=8, temperature=2.0):
    student = Student()
    optimizer = torch.optim.Adam(student.parameters(), lr=3e-3)
    for epoch in range(epochs):
        total = 0.0
        for rows in torch.randperm(len(x)).split(64):
            goal = F.softmax(teacher(x[rows]) / temperature, dim=1)
            guess = F.log_softmax(student(x[rows]) / temperature, dim=1)
            loss = F.kl_div(guess, goal, reduction="batchmean") * temperature**2
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        print(f"epoch {epoch} {total / len(x):.4f}")
    return student


def main():
    torch.manual_seed(0)
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y)
    pretrain(x[:1400], y[:1400], "teacher.pt")
    student = distill(load_teacher("teacher.pt"), x[:1400])
    with torch.no_grad():
        print(f"student {(student(x[1400:]).argmax(1) == y[1400:]).float().mean():.4f}")


if __name__ == "__main__":
    main()
