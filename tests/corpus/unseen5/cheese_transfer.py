"""Transfer learning: pretrain on five classes, then swap the head for five new ones."""
import torch
import torch.nn as nn
from sklearn.datasets import load_digits


class Net(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 12, 3, padding=1)
        self.conv2 = nn.Conv2d(12, 24, 3, padding=1)
        self.fc = nn.Linear(24 * 4, n_out)

    def forward(self, x):
        x = nn.functional.max_pool2d(self.conv1(x).relu(), 2)
        x = nn.functional.max_pool2d(self.conv2(x).relu(), 2)
        return self.fc(x.flatten(1))


def epoch_pass(model, optimizer, x, y):
    total = 0.0
    for idx in torch.randperm(len(x)).split(40):
        loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(idx)
    return total / len(x)


torch.manual_seed(24)
d = load_digits()
images = torch.tensor(d.images, dtype=torch.float32).unsqueeze(1) / 16
labels = torch.tensor(d.target)
old, new = labels < 5, labels >= 5
x_old, y_old = images[old], labels[old]
x_new, y_new = images[new], labels[new] - 5
n_train = int(0.7 * len(x_new))

model = Net(5)
pre = torch.optim.Adam(model.parameters(), lr=3e-3)
for _ in range(3):
    print("pretrain loss", round(epoch_pass(model, pre, x_old, y_old), 4))

for name, p in model.named_parameters():
    p.requires_grad = name.startswith("fc")
trainable = [p for p in model.parameters() if p.requires_grad]
optimizer = torch.optim.Adam(trainable, lr=5e-3)
model.fc = nn.Linear(24 * 4, 5)

for epoch in range(8):
    loss = epoch_pass(model, optimizer, x_new[:n_train], y_new[:n_train])
    with torch.no_grad():
        acc = (model(x_new[n_train:]).argmax(1) == y_new[n_train:]).float().mean().item()
    print(f"finetune {epoch} loss {loss:.4f} acc {acc:.3f}")
