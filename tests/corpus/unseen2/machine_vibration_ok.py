import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class VibrationClassifier(nn.Module):
    def __init__(self, n_sensors=2, hidden=24, n_classes=2):
        super().__init__()
        self.lstm = nn.LSTM(n_sensors, hidden, num_layers=1, batch_first=True)
        self.fc = nn.Linear(hidden, n_classes)

    def forward(self, x):
        # x: (batch, time, sensors)
        out, _ = self.lstm(x)
        return self.fc(out[:, -1, :])


def simulate(n, seed, length=30):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 2, (n,), generator=g)
    x = 0.4 * torch.randn(n, length, 2, generator=g)
    burst = torch.randint(2, length - 8, (n,), generator=g)
    for i in range(n):
        if y[i] == 1:
            x[i, burst[i]:burst[i] + 5, 0] += 1.5
        else:
            x[i, burst[i]:burst[i] + 5, 1] += 1.5
    return x, y


def main():
    torch.manual_seed(0)
    X_tr, y_tr = simulate(640, 0)
    X_te, y_te = simulate(256, 1)
    loader = DataLoader(TensorDataset(X_tr, y_tr), batch_size=32, shuffle=True)
    model = VibrationClassifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(10):
        model.train()
        tot = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            tot += loss.item()
        model.eval()
        with torch.no_grad():
            acc = (model(X_te).argmax(1) == y_te).float().mean().item()
        print(f"Epoch {epoch + 1}, loss {tot / len(loader):.4f}, test acc {acc:.3f}")


if __name__ == "__main__":
    main()
