import torch
import torch.nn as nn
from sklearn.datasets import load_digits


class Binarize(nn.Module):
    def forward(self, probabilities):
        return probabilities + (torch.round(probabilities) - probabilities).detach()


class HashingAutoencoder(nn.Module):
    def __init__(self, bits=16):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, bits), nn.Sigmoid())
        self.binarize = Binarize()
        self.decoder = nn.Sequential(nn.Linear(bits, 64), nn.ReLU(), nn.Linear(64, 64), nn.Sigmoid())

    def encode(self, x):
        return self.binarize(self.encoder(x))

    def forward(self, x):
        return self.decoder(self.encode(x))


class Runner:
    def __init__(self, model, lr=3e-3, batch_size=96):
        self.model = model
        self.batch_size = batch_size
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.criterion = nn.MSELoss()

    def fit(self, x, epochs):
        for epoch in range(1, epochs + 1):
            self.model.train()
            losses = []
            for part in x[torch.randperm(len(x))].split(self.batch_size):
                loss = self.criterion(self.model(part), part)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                losses.append(loss.item() * len(part))
            if epoch % 5 == 0:
                print(f"epoch {epoch} reconstruction {sum(losses) / len(x):.4f}")

    @torch.no_grad()
    def test(self, x):
        self.model.eval()
        codes = self.model.encode(x)
        return self.criterion(self.model(x), x).item(), len(torch.unique(codes, dim=0))


if __name__ == "__main__":
    torch.manual_seed(4)
    digits = torch.tensor(load_digits().data, dtype=torch.float32) / 16
    runner = Runner(HashingAutoencoder())
    runner.fit(digits[:1400], 20)
    error, codes = runner.test(digits[1400:])
    print(f"held-out reconstruction {error:.4f} with {codes} distinct codes")
