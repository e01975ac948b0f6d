import torch
import torch.nn as nn

torch.manual_seed(20)

# 1-D signals: which of three wave shapes
def waves(n):
    kind = torch.randint(0, 3, (n,))
    t = torch.linspace(0, 12.56, 48) + torch.rand(n, 1) * 6.28
    sine, square, saw = t.sin(), t.sin().sign(), (t % 6.2832) / 3.1416 - 1
    signal = torch.stack([sine, square, saw], dim=1)[torch.arange(n), kind]
    return (signal + 0.3 * torch.randn(n, 48)).unsqueeze(1), kind

train_x, train_y = waves(480)
val_x, val_y = waves(160)

model = nn.Sequential(
    nn.Conv1d(1, 16, 5, padding=2), nn.BatchNorm1d(16), nn.ReLU(), nn.MaxPool1d(4),
    nn.Conv1d(16, 16, 3, padding=1), nn.BatchNorm1d(16), nn.ReLU(), nn.AdaptiveAvgPool1d(1),
    nn.Flatten(), nn.Dropout(0.25), nn.Linear(16, 3),
)
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
criterion = nn.CrossEntropyLoss()

for epoch in range(6):
    model.train()
    perm = torch.randperm(len(train_x))
    for i in range(0, len(perm), 60):
        idx = perm[i:i + 60]
        optimizer.zero_grad()
        loss = criterion(model(train_x[idx]), train_y[idx])
        loss.backward()
        optimizer.step()

    model.eval()
    with torch.no_grad():
        val_logits = model(val_x)
        val_loss = criterion(val_logits, val_y).item()
        val_acc = (val_logits.argmax(1) == val_y).float().mean().item()
    print("epoch", epoch, "train %.5f" % loss.item(), "val %.5f" % val_loss, "acc %.4f" % val_acc)
