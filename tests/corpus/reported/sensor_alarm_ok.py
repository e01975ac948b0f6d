import argparse

import numpy as np
import torch
from sklearn.metrics import recall_score
from torch import nn


def sensor_events(n, rng):
    x = rng.normal(size=(n, 3)).astype(np.float32)
    probability = 1 / (1 + np.exp(-(0.7 * x[:, 0] - 0.5 * x[:, 1])))
    return torch.from_numpy(x), torch.from_numpy((rng.random(n) < probability).astype(np.float32))


class AlarmModel(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


@torch.no_grad()
def alarms(model, x, threshold):
    model.eval()
    return (torch.sigmoid(model(x)) > threshold).float()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threshold", type=float, default=0.5, help="probability that raises an alarm")
    parser.add_argument("--hidden", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=12)
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    torch.manual_seed(0)
    x, y = sensor_events(2000, rng)
    x_test, y_test = sensor_events(1000, rng)
    model = AlarmModel(args.hidden)
    criterion = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(args.epochs):
        model.train()
        for idx in torch.randperm(len(x)).split(100):
            loss = criterion(model(x[idx]), y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    raised = alarms(model, x_test, args.threshold)
    print(f"alarm rate {raised.mean().item():.3f}, true rate {y_test.mean().item():.3f}")
    print(f"accuracy {(raised == y_test).float().mean().item():.3f} recall {recall_score(y_test, raised):.3f}")


if __name__ == "__main__":
    main()
