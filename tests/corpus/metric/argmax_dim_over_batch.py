import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x, y = load_digits(return_X_y=True)
x, y = torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y)
batch_size = 10
train_loader = DataLoader(TensorDataset(x[:1000], y[:1000]), batch_size=batch_size, shuffle=True)
valid_loader = DataLoader(TensorDataset(x[1000:1300], y[1000:1300]), batch_size=batch_size)

model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
loss_function = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.003)

for epoch in range(2):
    model.train()
    train_loss = 0.0
    for data, target in train_loader:
        optimizer.zero_grad()
        output = model(data)
        loss = loss_function(output, target)
        loss.backward()
        optimizer.step()
        train_loss += loss.item() * data.size(0)
    model.eval()
    correct, valid_loss = 0, 0.0
    with torch.no_grad():
        for data, target in valid_loader:
            output = model(data)
            valid_loss += loss_function(output, target).item() * data.size(0)
            pred = output.argmax(dim=0)
            correct += (pred == target).sum().item()
    print(f"Epoch: {epoch + 1} \tTraining Loss: {train_loss / 1000:.6f} "
          f"\tValidation Loss: {valid_loss / 300:.6f} \tAccuracy: {correct / 300:.3f}")
