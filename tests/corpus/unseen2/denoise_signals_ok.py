import resource

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def rss_mb():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * resource.getpagesize() / 2 ** 20


class DenoiseCNN(nn.Module):
    def __init__(self, ch=16):
        super().__init__()
        self.net = nn.Sequential(nn.Conv1d(1, ch, 5, padding=2), nn.Tanh(),
                                 nn.Conv1d(ch, ch, 5, padding=2), nn.Tanh(),
                                 nn.Conv1d(ch, 1, 5, padding=2))

    def forward(self, x):
        return self.net(x)


def signals(n, length=256):
    t = torch.linspace(0, 6.28, length)
    freq = torch.randint(1, 6, (n, 1)).float()
    clean = torch.sin(freq * t + torch.rand(n, 1) * 6.28).unsqueeze(1)
    return TensorDataset(clean + 0.3 * torch.randn_like(clean), clean)


def validate(model, loader, criterion):
    model.eval()
    val_loss = 0.0
    with torch.no_grad():
        for x, y in loader:
            val_loss += criterion(model(x), y).item()
    return val_loss / len(loader)


def main():
    torch.manual_seed(0)
    train_loader = DataLoader(signals(480), batch_size=16, shuffle=True)
    val_loader = DataLoader(signals(800), batch_size=16)
    model = DenoiseCNN()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    criterion = nn.MSELoss()
    history = []
    for epoch in range(6):
        model.train()
        total = 0.0
        for x, y in train_loader:
            opt.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            opt.step()
            total += loss.item()
        history.append(validate(model, val_loader, criterion))
        print(f"epoch {epoch}: train {total / len(train_loader):.4f} val {float(history[-1]):.4f} "
              f"memory {rss_mb():.0f} MB")
    print("best validation loss", float(min(history)))


if __name__ == "__main__":
    main()
