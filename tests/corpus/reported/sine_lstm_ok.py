import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

WINDOW = 20


def series(length=700):
    t = torch.arange(length, dtype=torch.float32)
    return torch.sin(t * 2 * math.pi / 25) + 0.3 * torch.sin(t * 2 * math.pi / 7)


def windows(values):
    chunks = values.unfold(0, WINDOW + 1, 1)
    return chunks[:, :-1].unsqueeze(-1).contiguous(), chunks[:, -1:].contiguous()


class Forecaster(nn.Module):
    def __init__(self, hidden, batch_size):
        super().__init__()
        self.hidden = hidden
        self.batch_size = batch_size
        self.lstm = nn.LSTM(1, hidden, batch_first=True)
        self.readout = nn.Linear(hidden, 1)

    def forward(self, x):
        h0 = torch.zeros(1, x.size(0), self.hidden)
        c0 = torch.zeros(1, x.size(0), self.hidden)
        out, _ = self.lstm(x, (h0, c0))
        return self.readout(out[:, -1])


def main(batch_size=64, epochs=3):
    torch.manual_seed(11)
    values = series()
    train = TensorDataset(*windows(values[:560]))
    loader = DataLoader(train, batch_size=batch_size, shuffle=True)
    model = Forecaster(32, batch_size)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    loss_fn = nn.MSELoss()
    for epoch in range(epochs):
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * x.size(0)
        print("epoch", epoch, "mse", total / len(train))


if __name__ == "__main__":
    main()
