import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split


class NoisySines(Dataset):
    def __init__(self, n=400, length=32, noise=0.5):
        t = torch.linspace(0, 1, length)
        freq = 1 + 3 * torch.rand(n, 1)
        phase = 6.28 * torch.rand(n, 1)
        self.signal = torch.sin(6.28 * freq * t + phase)
        self.noisy = self.signal + noise * torch.randn(n, length)

    def __len__(self):
        return self.signal.size(0)

    def __getitem__(self, i):
        return self.noisy[i], self.signal[i]


class Filter(nn.Module):
    def __init__(self):
        super().__init__()
        self.stack = nn.Sequential(
            nn.Conv1d(1, 16, 5, padding=2), nn.ReLU(),
            nn.Conv1d(16, 16, 5, padding=2), nn.ReLU(),
            nn.Conv1d(16, 1, 5, padding=2),
        )

    def forward(self, x):
        return self.stack(x.unsqueeze(1)).squeeze(1)


class Runner:
    def __init__(self, model, lr):
        self.model, self.criterion = model, nn.MSELoss()
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def train_epoch(self, loader):
        self.model.train()
        acc = 0.0
        for noisy, signal in loader:
            self.optimizer.zero_grad()
            restored = self.model(noisy)
            loss = self.criterion(restored, signal)
            loss.backward()
            self.optimizer.step()
            acc += loss.item()
        return acc / len(loader)

    @torch.no_grad()
    def snr(self, loader):
        self.model.eval()
        err = power = 0.0
        for noisy, signal in loader:
            err += (self.model(noisy) - signal).pow(2).sum().item()
            power += signal.pow(2).sum().item()
        return power / err


torch.manual_seed(6)
train_set, val_set = random_split(NoisySines(), [320, 80])
train_loader, val_loader = DataLoader(train_set, batch_size=32, shuffle=True), DataLoader(val_set, batch_size=80)
runner = Runner(Filter(), lr=5e-3)
for epoch in range(8):
    print(f"epoch {epoch} mse {runner.train_epoch(train_loader):.5f} val snr {runner.snr(val_loader):.4f}")
