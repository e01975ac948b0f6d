"""Fine-tuning schedule: linear warm-up, then linear decay, as a LambdaLR."""
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

BASE_LR = 1e-3
WARMUP_STEPS = 60
TOTAL_STEPS = 400


def lr_lambda(step):
    if step < WARMUP_STEPS:
        return (step + 1) / WARMUP_STEPS
    return max(0.0, (TOTAL_STEPS - step) / (TOTAL_STEPS - WARMUP_STEPS))


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
        )
        self.classifier = nn.Linear(24, 10)

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


def endless(x, y, size):
    while True:
        for rows in torch.randperm(len(x)).split(size):
            if len(rows) == size:
                yield x[rows], y[rows]


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        result = (model(x).argmax(1) == y).float().mean().item()
    model.train()
    return result


def main():
    torch.manual_seed(33)
    x, y = load_digits(return_X_y=True)
    x = torch.tensor(x, dtype=torch.float32).reshape(-1, 1, 8, 8) / 16
    y = torch.tensor(y)
    model = ConvNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=BASE_LR, weight_decay=1e-4)
    scheduler = LambdaLR(optimizer, lr_lambda)
    criterion = nn.CrossEntropyLoss()
    batches = endless(x[:1400], y[:1400], 32)
    for step in range(TOTAL_STEPS):
        inputs, targets = next(batches)
        optimizer.zero_grad()
        loss = criterion(model(inputs), targets)
        loss.backward()
        optimizer.step()
        scheduler.step()
        if step % 100 == 99:
            print(f"step {step} loss {loss.item():.4f} test {evaluate(model, x[1400:], y[1400:]):.4f}")


if __name__ == "__main__":
    main()
