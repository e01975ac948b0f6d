import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class ConvRegressor(nn.Module):
    def __init__(self, channels=12):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(1, channels, 5, padding=2), nn.ReLU(),
            nn.Conv1d(channels, channels, 5, padding=2), nn.ReLU(),
        )
        self.head = nn.Linear(channels, 1)

    def forward(self, x):
        return self.head(self.features(x).mean(dim=2)).squeeze(1)


def signals(n, seed, length=64):
    g = torch.Generator().manual_seed(seed)
    frequency = 1 + 9 * torch.rand(n, 1, generator=g)
    phase = 6.28 * torch.rand(n, 1, generator=g)
    t = torch.linspace(0, 1, length)
    wave = torch.sin(6.28 * frequency * t + phase) + 0.2 * torch.randn(n, length, generator=g)
    return wave.unsqueeze(1), frequency.squeeze(1) / 10


def run_epoch(model, loader, criterion, optimizer):
    model.train()
    total_loss = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total_loss += loss.item() * len(x)
    return total_loss / len(loader.dataset)


def main():
    torch.manual_seed(2)
    x, y = signals(800, seed=2)
    x_val, y_val = signals(200, seed=3)
    loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
    model = ConvRegressor()
    criterion = nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    history = []
    for epoch in range(8):
        history.append(run_epoch(model, loader, criterion, optimizer))
        model.eval()
        with torch.no_grad():
            val = criterion(model(x_val), y_val)
        print(f"epoch {epoch}: train {history[-1]:.5f} val {val.item():.5f}")
    best = min(range(len(history)), key=history.__getitem__)
    print("best training epoch", best)


if __name__ == "__main__":
    main()
