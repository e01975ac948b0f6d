"""A small student learns from a larger teacher's soft targets."""
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


def network(width):
    return nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10))


class DistillationLoss(nn.Module):
    def __init__(self, temperature=3.0, alpha=0.7):
        super().__init__()
        self.temperature, self.alpha = temperature, alpha
        self.kl = nn.KLDivLoss(reduction="batchmean")

    def forward(self, student, teacher, labels):
        t = self.temperature
        soft = self.kl(
            F.softmax(student / t, dim=1),
            F.softmax(teacher / t, dim=1),
        )
        hard = F.cross_entropy(student, labels)
        return self.alpha * t * t * soft + (1 - self.alpha) * hard


def train_teacher(loader, epochs=5):
    teacher = network(128)
    optimizer = torch.optim.Adam(teacher.parameters(), lr=2e-3)
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(teacher(x), y).backward()
            optimizer.step()
    return teacher.eval().requires_grad_(False)


def distill(teacher, loader, epochs=6):
    student = network(16)
    optimizer = torch.optim.Adam(student.parameters(), lr=3e-3)
    criterion = DistillationLoss()
    for epoch in range(epochs):
        total = 0.0
        for x, y in loader:
            with torch.no_grad():
                soft = teacher(x)
            loss = criterion(student(x), soft, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f}")
    return student


def main():
    torch.manual_seed(23)
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y)
    loader = DataLoader(TensorDataset(x[:1400], y[:1400]), batch_size=50, shuffle=True)
    teacher = train_teacher(loader)
    student = distill(teacher, loader)
    for name, model in (("teacher", teacher), ("student", student)):
        with torch.no_grad():
            print(f"{name} {(model(x[1400:]).argmax(1) == y[1400:]).float().mean():.4f}")


main()
