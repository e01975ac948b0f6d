import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader


class AutoEncoder(nn.Module):
    def __init__(self, d=64, bottleneck=8):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(d, 48), nn.ReLU(), nn.Linear(48, bottleneck))
        self.decoder = nn.Sequential(nn.Linear(bottleneck, 48), nn.ReLU(), nn.Linear(48, d))

    def encode(self, x):
        with torch.no_grad():
            return self.encoder(x)

    def forward(self, x):
        code = self.encode(x)
        return self.decoder(code)


class AETrainer:
    def __init__(self, model, lr=2e-3):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        self.loss = nn.MSELoss()

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            total, n = 0.0, 0
            for x in loader:
                self.opt.zero_grad()
                loss = self.loss(self.model(x), x)
                loss.backward()
                self.opt.step()
                total += loss.item() * len(x)
                n += len(x)
            if (epoch + 1) % 5 == 0:
                print(f"epoch {epoch + 1}: reconstruction {total / n:.5f}")

    @torch.no_grad()
    def score(self, x):
        return self.loss(self.model(x), x).item()


def main():
    torch.manual_seed(0)
    X = torch.tensor(load_digits().data / 16.0, dtype=torch.float32)
    train, test = X[:1400], X[1400:]
    trainer = AETrainer(AutoEncoder())
    trainer.fit(DataLoader(train, batch_size=50, shuffle=True), epochs=20)
    print(f"test reconstruction {trainer.score(test):.5f}")


if __name__ == "__main__":
    main()
