import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
digits = load_digits()
X = torch.tensor(digits.images[:900], dtype=torch.float32).unsqueeze(1) / 16.
y = torch.tensor(digits.target[:900])
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=1)

train_dl = DataLoader(TensorDataset(X_train, y_train), batch_size=48, shuffle=True)
test_dl = DataLoader(TensorDataset(X_test, y_test), batch_size=128)

model = nn.Sequential(
    nn.Conv2d(1, 12, kernel_size=3, padding=1),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Conv2d(12, 24, kernel_size=3, padding=1),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Flatten(),
    nn.Linear(24 * 2 * 2, 40),
    nn.ReLU(),
    nn.Dropout(0.1),
    nn.Linear(40, 10),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.08, momentum=0.9)

for epoch in range(5):
    model.train()
    total, seen = 0.0, 0
    for xb, yb in train_dl:
        optimizer.zero_grad()
        out = model(xb)
        loss = criterion(out, yb)
        loss.backward()
        optimizer.step()
        total += loss.item() * xb.size(0)
        seen += xb.size(0)
    model.eval()
    correct = 0
    with torch.no_grad():
        for xb, yb in test_dl:
            correct += (model(xb).argmax(dim=1) == yb).sum().item()
    print(f"Epoch {epoch + 1}: loss={total / seen:.5f} test_acc={correct / len(X_test):.4f}")
