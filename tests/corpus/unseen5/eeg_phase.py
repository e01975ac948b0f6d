"""Are two EEG electrodes in phase or in anti-phase?"""
import argparse

import torch
import torch.nn as nn


class EEGSet(torch.utils.data.Dataset):
    def __init__(self, n, channels=4, steps=40, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.y = torch.randint(0, 2, (n,), generator=g)
        x = torch.randn(n, channels, steps, generator=g)
        sign = 1 - 2 * self.y.float()
        x[:, 1] = 0.8 * sign[:, None] * x[:, 0] + 0.6 * x[:, 1]
        self.x = x

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class PhaseNet(nn.Module):
    def __init__(self, channels, hidden):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(channels, hidden), nn.ReLU())
        self.rnn = nn.GRU(hidden, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, 2)

    def forward(self, x):
        b, c, t = x.shape
        x = x.view(b, t, c)
        out, _ = self.rnn(self.embed(x))
        return self.fc(out.mean(1))


def accuracy(model, loader):
    model.eval()
    good = total = 0
    with torch.no_grad():
        for x, y in loader:
            good += (model(x).argmax(1) == y).sum().item()
            total += len(y)
    return good / total


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--hidden", type=int, default=24)
    p.add_argument("--epochs", type=int, default=6)
    p.add_argument("--lr", type=float, default=5e-3)
    a = p.parse_args()
    torch.manual_seed(0)
    train = torch.utils.data.DataLoader(EEGSet(640, seed=1), batch_size=32, shuffle=True)
    test = torch.utils.data.DataLoader(EEGSet(200, seed=2), batch_size=100)
    model = PhaseNet(4, a.hidden)
    optim = torch.optim.Adam(model.parameters(), lr=a.lr)
    for epoch in range(a.epochs):
        model.train()
        for x, y in train:
            optim.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optim.step()
        print(f"epoch {epoch} loss {loss.item():.3f} train {accuracy(model, train):.3f} test {accuracy(model, test):.3f}")
