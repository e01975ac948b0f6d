import math
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def synth_beats(n, length, gen):
    t = torch.linspace(0, 1, length)
    label = torch.randint(0, 2, (n,), generator=gen)
    phase = torch.rand(n, 1, generator=gen) * 2 * math.pi
    freq = 4.0 + 4.0 * label.float().unsqueeze(1)
    wave = torch.sin(2 * math.pi * freq * t + phase) + 0.3 * torch.randn(n, length, generator=gen)
    return wave.unsqueeze(1), label


class BeatNet(nn.Module):
    def __init__(self, length):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(1, 8, 7, stride=2),
            nn.BatchNorm1d(8),
            nn.ReLU(),
            nn.Conv1d(8, 16, 5, stride=2),
            nn.BatchNorm1d(16),
            nn.ReLU(),
        )
        self.classifier = nn.Linear(16 * length // 4, 2)

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.criterion = nn.CrossEntropyLoss()

    def fit(self, loader, val, epochs):
        for epoch in range(epochs):
            loss = self.train_epoch(loader)
            print(f"{epoch:02d} train={loss:.6f} val={self.evaluate(val):.4f}")

    def train_epoch(self, loader):
        self.model.train()
        losses = []
        for x, y in loader:
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            losses.append(loss.item())
        return sum(losses) / len(losses)

    @torch.no_grad()
    def evaluate(self, loader):
        self.model.eval()
        hits = sum((self.model(x).argmax(-1) == y).sum().item() for x, y in loader)
        return hits / len(loader.dataset)


if __name__ == "__main__":
    torch.manual_seed(7)
    gen = torch.Generator().manual_seed(7)
    train = TensorDataset(*synth_beats(320, 96, gen))
    val = TensorDataset(*synth_beats(80, 96, gen))
    trainer = Trainer(BeatNet(length=96), lr=2e-3)
    trainer.fit(DataLoader(train, 32, shuffle=True), DataLoader(val, 80), epochs=5)
