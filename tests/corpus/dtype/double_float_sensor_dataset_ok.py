import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader


class SensorDataset(Dataset):
    def __init__(self, num_samples=240, length=40, seed=12):
        rng = np.random.default_rng(seed)
        self.labels = rng.integers(0, 3, num_samples)
        t = np.linspace(0, 1, length)
        self.signals = np.stack([
            np.sin(2 * np.pi * (2 + 3 * k) * t + rng.uniform(0, 2 * np.pi)) for k in self.labels
        ])
        self.signals += rng.normal(scale=0.2, size=self.signals.shape)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, idx):
        signal = torch.as_tensor(self.signals[idx], dtype=torch.float32).unsqueeze(0)
        label = torch.as_tensor(self.labels[idx])
        return signal, label


class SensorNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 12, 9, padding=4)
        self.bn = nn.BatchNorm1d(12)
        self.head = nn.Linear(12, 3)

    def forward(self, x):
        x = torch.relu(self.bn(self.conv(x)))
        return self.head(x.mean(-1))


def train(model, loader, device, epochs=6):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for signal, label in loader:
            signal, label = signal.to(device), label.to(device)
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(signal), label)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(label)
        scheduler.step()
        print(f"epoch {epoch} loss {total / len(loader.dataset):.6f}")


def main():
    torch.manual_seed(12)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    loader = DataLoader(SensorDataset(), batch_size=24, shuffle=True)
    train(SensorNet().to(device), loader, device)


if __name__ == "__main__":
    main()
