import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
device = "cpu"

data, target = load_digits(return_X_y=True)
x_train, x_test, y_train, y_test = train_test_split(data / 16.0, target, test_size=0.2, random_state=0)
train_dataset = TensorDataset(torch.tensor(x_train).float(), torch.tensor(y_train))
test_dataset = TensorDataset(torch.tensor(x_test).float(), torch.tensor(y_test))
train_dataloader = DataLoader(train_dataset, batch_size=64, shuffle=True)
test_dataloader = DataLoader(test_dataset, batch_size=64)


class NeuralNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear_relu_stack = nn.Sequential(
            nn.Linear(64, 128), nn.ReLU(),
            nn.Linear(128, 128), nn.ReLU(),
            nn.Linear(128, 10),
        )

    def forward(self, x):
        return self.linear_relu_stack(x)


model = NeuralNetwork().to(device)
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def train_loop(dataloader):
    model.train()
    total = 0.0
    for X, y in dataloader:
        X, y = X.to(device), y.to(device)
        loss = loss_fn(model(X), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(dataloader)


def test_loop(dataloader):
    model.eval()
    correct = 0
    with torch.no_grad():
        for X, y in dataloader:
            correct += (model(X.to(device)).argmax(1) == y.to(device)).sum().item()
    return correct / len(dataloader.dataset)


for t in range(8):
    train_loss = train_loop(train_dataloader)
    print(f"Epoch {t + 1}: train loss {train_loss:.4f}, accuracy {100 * test_loop(test_dataloader):.1f}%")
