import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


class DigitNet(nn.Module):
    def __init__(self, hidden=(48, 32)):
        super().__init__()
        self.fc1 = nn.Linear(64, hidden[0])
        self.fc2 = nn.Linear(hidden[0], hidden[1])
        self.fc3 = nn.Linear(hidden[1], 10)

    def forward(self, x):
        x = x.view(x.size(0), -1)
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return F.relu(self.fc3(x))


class History(list):
    def log(self, **values):
        self.append(values)
        print("  ".join(f"{k} {v:.3f}" if isinstance(v, float) else f"{k} {v}" for k, v in values.items()))


def run(seed=0, epochs=8):
    torch.manual_seed(seed)
    digits = load_digits()
    x = torch.tensor(digits.images, dtype=torch.float32) / 16
    y = torch.tensor(digits.target)
    train = TensorDataset(x[:1300], y[:1300])
    x_test, y_test = x[1300:], y[1300:]
    loader = DataLoader(train, batch_size=50, shuffle=True)
    model = DigitNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    history = History()
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(xb), yb)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xb)
        model.eval()
        with torch.no_grad():
            predicted = model(x_test).argmax(dim=1)
        history.log(epoch=epoch, loss=total / len(train), accuracy=(predicted == y_test).float().mean().item(),
                    classes=predicted.unique().numel())
    return history


if __name__ == "__main__":
    run()
