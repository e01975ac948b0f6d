"""Reads digits row by row with an LSTM."""
import argparse

import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


class RowLSTM(nn.Module):
    def __init__(self, row=8, hidden=48, layers=1, classes=10):
        super().__init__()
        self.hidden, self.layers = hidden, layers
        self.lstm = nn.LSTM(row, hidden, layers, batch_first=True)
        self.fc = nn.Linear(hidden, classes)

    def forward(self, x):
        out, _ = self.lstm(x)
        return self.fc(out[:, -1, :])


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch-size", type=int, default=40)
    parser.add_argument("--lr", type=float, default=5e-3)
    return parser.parse_args()


def get_data(batch_size):
    x, y = load_digits(return_X_y=True)
    x = (x / 16).reshape(-1, 8, 8).astype("float32")
    x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.2, random_state=0)
    make = lambda a, b, s: DataLoader(TensorDataset(torch.tensor(a), torch.tensor(b)), batch_size, shuffle=s)
    return make(x_train, y_train, True), make(x_test, y_test, False)


def evaluate(model, loader):
    model.eval()
    correct, total = 0, 0
    with torch.no_grad():
        for images, labels in loader:
            predicted = model(images).argmax(1)
            total += labels.size(0)
            correct += (predicted == labels).sum().item()
    return correct / total


def main():
    args = get_args()
    torch.manual_seed(0)
    train_loader, test_loader = get_data(args.batch_size)
    model = RowLSTM()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        model.train()
        for images, labels in train_loader:
            loss = criterion(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"Epoch [{epoch + 1}/{args.epochs}], Loss: {loss.item():.4f}, Test: {evaluate(model, test_loader):.4f}")


if __name__ == "__main__":
    main()
