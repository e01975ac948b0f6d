import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(9)


class OccupancyNet(nn.Module):
    def __init__(self, hidden=128):
        super().__init__()
        self.rnn = nn.GRU(2, hidden, batch_first=True)
        self.drop = nn.Dropout(0.1)
        self.fc = nn.Linear(hidden, 1)

    def forward(self, x):
        out, _ = self.rnn(x)
        return self.fc(self.drop(out[:, -1])).squeeze(1)


def parking_series(n, steps=12):
    hour = torch.rand(n, 1) * 24
    t = hour + torch.arange(steps + 1) * 0.5
    occ = 0.5 + 0.4 * torch.sin((t - 6) * 3.1416 / 12) + 0.03 * torch.randn(n, steps + 1)
    x = torch.stack([occ[:, :-1], t[:, :-1] / 24], dim=-1)
    return x, occ[:, -1]


class Trainer:
    def __init__(self, model, loader):
        self.model, self.loader = model, loader
        self.optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
        self.criterion = nn.MSELoss()
        self.total_loss = 0
        self.iterations = 0

    def train_epoch(self):
        for x, y in self.loader:
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            self.total_loss += loss.item()
            self.iterations += 1

    def run(self, epochs):
        for epoch in range(epochs):
            self.train_epoch()
            print(f"epoch {epoch} mean loss so far {float(self.total_loss) / self.iterations:.5f}")


trainer = Trainer(OccupancyNet(), DataLoader(TensorDataset(*parking_series(640)), batch_size=32, shuffle=True))
trainer.run(6)
