import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(19)
n, d = 1200, 30
w = torch.randn(d) * (torch.arange(d) < 5)
x = torch.randn(n, d)
y = ((x @ w + 1.0 * torch.randn(n)) > 0).long()
train_loader = DataLoader(TensorDataset(x[:300], y[:300]), batch_size=32, shuffle=True)
val_loader = DataLoader(TensorDataset(x[300:], y[300:]), batch_size=300)

model = nn.Sequential(
    nn.Linear(d, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Dropout(0.5),
    nn.Linear(128, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Dropout(0.5),
    nn.Linear(128, 2),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)


def evaluate(model, loader):
    model.eval()
    loss_sum, correct, seen = 0.0, 0, 0
    with torch.no_grad():
        for xb, yb in loader:
            logits = model(xb)
            loss_sum += criterion(logits, yb).item() * len(yb)
            correct += (logits.argmax(1) == yb).sum().item()
            seen += len(yb)
    return loss_sum / seen, correct / seen


for epoch in range(30):
    model.train()
    running = 0.0
    for xb, yb in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        running += loss.item()
    val_loss, val_acc = evaluate(model, val_loader)
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1:2d} train {running / len(train_loader):.3f} val {val_loss:.3f} acc {val_acc:.3f}")
