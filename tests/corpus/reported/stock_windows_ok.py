"""Predict the next daily return of a synthetic stock from the last ones."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def returns(days, generator):
    shocks = torch.randn(days, generator=generator)
    series = torch.zeros(days)
    for day in range(2, days):
        series[day] = 0.6 * series[day - 1] - 0.3 * series[day - 2] + 0.5 * shocks[day]
    return series


def make_windows(values, window):
    inputs, targets = [], []
    for start in range(len(values) - window):
        inputs.append(values[start:start + window])
        targets.append(values[start + window])
    return torch.stack(inputs).unsqueeze(-1), torch.stack(targets).unsqueeze(-1)


class GRUForecast(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        states, _ = self.gru(x)
        return self.out(states[:, -1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--window", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=8)
    args = parser.parse_args()
    torch.manual_seed(68)
    series = returns(900, torch.Generator().manual_seed(68))
    train = TensorDataset(*make_windows(series[:700], args.window))
    test_x, test_y = make_windows(series[700:], args.window)
    loader = DataLoader(train, batch_size=69, shuffle=True)
    model = GRUForecast(16)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    criterion = nn.MSELoss()
    for epoch in range(args.epochs):
        model.train()
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            print(f"epoch {epoch} test mse {criterion(model(test_x), test_y).item():.4f}")


if __name__ == "__main__":
    main()
