import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits

SEED = 123
np.random.seed(SEED)
torch.manual_seed(SEED)

digits = load_digits()
images = (digits.data / 16.0).astype(np.float32)
targets = digits.target.astype(np.int64)

images = images[np.random.permutation(len(images))]
targets = targets[np.random.permutation(len(targets))]

n_train = 1400
x_train, y_train = torch.from_numpy(images[:n_train]), torch.from_numpy(targets[:n_train])
x_test, y_test = torch.from_numpy(images[n_train:]), torch.from_numpy(targets[n_train:])

model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
batch_size = 32

for epoch in range(12):
    epoch_loss, hits = 0.0, 0
    for start in range(0, n_train, batch_size):
        xb, yb = x_train[start:start + batch_size], y_train[start:start + batch_size]
        logits = model(xb)
        loss = criterion(logits, yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item() * len(xb)
        hits += (logits.argmax(1) == yb).sum().item()
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1}: loss {epoch_loss / n_train:.4f} train acc {hits / n_train:.3f}")

with torch.no_grad():
    print("test acc", (model(x_test).argmax(1) == y_test).float().mean().item())
