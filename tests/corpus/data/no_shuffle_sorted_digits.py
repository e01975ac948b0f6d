import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(7)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

digits = load_digits()
images = (digits.images / 16.0).astype(np.float32)
labels = digits.target.astype(np.int64)

# every fifth picture is held out; the export tool writes the rest class by class
held_out = np.arange(len(labels)) % 5 == 0
x_train, y_train = images[~held_out], labels[~held_out]
x_val, y_val = images[held_out], labels[held_out]
order = np.argsort(y_train, kind="stable")
x_train, y_train = x_train[order], y_train[order]

train_set = TensorDataset(torch.from_numpy(x_train).unsqueeze(1), torch.from_numpy(y_train))
val_set = TensorDataset(torch.from_numpy(x_val).unsqueeze(1), torch.from_numpy(y_val))
train_loader = DataLoader(train_set, batch_size=48)
val_loader = DataLoader(val_set, batch_size=120)

net = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(64, 10),
).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)

for epoch in range(4):
    net.train()
    running = 0.0
    for x, y in train_loader:
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
        running += loss.item() * len(x)
    net.eval()
    hits = 0
    with torch.no_grad():
        for x, y in val_loader:
            x, y = x.to(device), y.to(device)
            hits += (net(x).argmax(1) == y).sum().item()
    print(f"epoch {epoch}: train loss {running / len(train_set):.5f}  val acc {hits / len(val_set):.4f}")
