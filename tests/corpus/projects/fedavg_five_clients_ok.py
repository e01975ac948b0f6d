"""Federated averaging over five clients with different digits."""
import copy

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn


class Client:
    def __init__(self, x, y, lr=0.1, local_epochs=2):
        self.x, self.y = x, y
        self.lr, self.local_epochs = lr, local_epochs

    def update(self, model):
        optimizer = torch.optim.SGD(model.parameters(), lr=self.lr, momentum=0.5)
        model.train()
        for _ in range(self.local_epochs):
            for rows in torch.randperm(len(self.x)).split(32):
                optimizer.zero_grad()
                F.cross_entropy(model(self.x[rows]), self.y[rows]).backward()
                optimizer.step()
        return model.state_dict(), len(self.x)


class Server:
    def __init__(self, model, clients):
        self.model, self.clients = model, clients

    def average(self, results):
        total = sum(count for _, count in results)
        merged = copy.deepcopy(results[0][0])
        for key in merged:
            merged[key] = sum(state[key] * (count / total) for state, count in results)
        return merged

    def round(self):
        results = []
        for client in self.clients:
            results.append(client.update(copy.deepcopy(self.model)))
        self.model.load_state_dict(self.average(results))

    @torch.no_grad()
    def test(self, x, y):
        self.model.eval()
        return (self.model(x).argmax(1) == y).float().mean().item()


def split_by_digit(x, y, count):
    order = torch.argsort(y)
    shards = order.chunk(count * 2)
    return [Client(x[rows], y[rows]) for rows in (torch.cat([shards[i], shards[i + count]]) for i in range(count))]


def main(rounds=6):
    torch.manual_seed(7)
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y)
    model = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 10))
    server = Server(model, split_by_digit(x[:1400], y[:1400], 5))
    for number in range(rounds):
        server.round()
        print(f"round {number} test {server.test(x[1400:], y[1400:]):.4f}")


if __name__ == "__main__":
    main()
