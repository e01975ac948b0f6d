"""Predict a chaotic series with a plain RNN."""
import torch
from torch import nn


def logistic_map(n, r=3.8, x0=0.4):
    values = [x0]
    for _ in range(n - 1):
        values.append(r * values[-1] * (1 - values[-1]))
    return torch.tensor(values)


def windows(series, length):
    data = series.unfold(0, length + 1, 1)
    return data[:, :-1].unsqueeze(-1), data[:, -1:]


class Forecaster(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.rnn = nn.RNN(1, hidden, batch_first=True, nonlinearity="relu")
        self.out = nn.Linear(hidden, 1)
        nn.init.eye_(self.rnn.weight_hh_l0)
        with torch.no_grad():
            self.rnn.weight_hh_l0.mul_(1.25)

    def forward(self, x):
        states, _ = self.rnn(x)
        return self.out(states[:, -1])


class Experiment:
    def __init__(self, seed=0, max_norm=0.5):
        torch.manual_seed(seed)
        self.max_norm = max_norm
        series = logistic_map(900)
        self.x_train, self.y_train = windows(series[:700], 16)
        self.x_test, self.y_test = windows(series[700:], 16)
        self.model = Forecaster()
        self.loss = nn.MSELoss()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.02, momentum=0.9)

    def train_epoch(self):
        self.model.train()
        for idx in torch.randperm(len(self.x_train)).split(32):
            self.optimizer.zero_grad()
            loss = self.loss(self.model(self.x_train[idx]), self.y_train[idx])
            loss.backward()
            self.optimizer.step()
            nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm)
        return loss.item()

    @torch.no_grad()
    def test(self):
        self.model.eval()
        return self.loss(self.model(self.x_test), self.y_test).item()


if __name__ == "__main__":
    experiment = Experiment()
    for epoch in range(8):
        print(f"epoch {epoch}: train {experiment.train_epoch():.4f} test {experiment.test():.4f}")
