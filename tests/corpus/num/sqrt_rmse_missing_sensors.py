import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class RMSELoss(nn.Module):
    """Root mean squared error of each station, averaged over the stations of the batch."""

    def forward(self, pred, target, observed):
        err = (pred - target) * observed
        mse = err.pow(2).sum(dim=1) / observed.sum(dim=1).clamp(min=1)
        return torch.sqrt(mse).mean()


class Stations(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        t = torch.linspace(0, 3, 16)
        phase = torch.rand(n, 1, generator=g) * 3
        wave = torch.sin(t + phase) + 0.05 * torch.randn(n, 16, generator=g)
        self.past, self.future = wave[:, :12], wave[:, 12:]
        drop = torch.rand(n, generator=g)[:, None] * 0.9
        self.observed = (torch.rand(n, 4, generator=g) > drop).float()

    def __len__(self):
        return len(self.past)

    def __getitem__(self, i):
        return self.past[i], self.future[i], self.observed[i]


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(1, 24, batch_first=True)
        self.head = nn.Linear(24, 4)

    def forward(self, past):
        _, h = self.rnn(past.unsqueeze(-1))
        return self.head(h.squeeze(0))


def train():
    torch.manual_seed(4)
    loader = DataLoader(Stations(256, 0), batch_size=32, shuffle=True)
    model, criterion = Forecaster(), RMSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=8e-3)
    for epoch in range(5):
        mean_loss = 0.0
        for past, future, observed in loader:
            optimizer.zero_grad()
            loss = criterion(model(past), future, observed)
            loss.backward()
            optimizer.step()
            mean_loss += loss.item() / len(loader)
        print(f"epoch {epoch}: rmse {mean_loss:.5f}")


if __name__ == "__main__":
    train()
