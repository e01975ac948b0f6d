"""A network of raw tensors, trained with momentum written by hand."""
import math

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits


class RawNetwork:
    def __init__(self, sizes):
        self.params = []
        for before, after in zip(sizes, sizes[1:]):
            weight = torch.randn(before, after) * math.sqrt(2 / before)
            self.params += [weight.requires_grad_(), torch.zeros(after, requires_grad=True)]

    def __call__(self, x):
        pairs = list(zip(self.params[::2], self.params[1::2]))
        for weight, bias in pairs[:-1]:
            x = torch.relu(x @ weight + bias)
        weight, bias = pairs[-1]
        return x @ weight + bias


class Momentum:
    def __init__(self, params, lr, beta=0.9, decay=1e-4):
        self.params, self.lr, self.beta, self.decay = params, lr, beta, decay
        self.velocity = [torch.zeros_like(p) for p in params]

    def apply(self, gradients):
        with torch.no_grad():
            for p, g, v in zip(self.params, gradients, self.velocity):
                v.mul_(self.beta).add_(g + self.decay * p)
                p.sub_(self.lr * v)


def loss_of(network, x, y):
    return F.cross_entropy(network(x), y)


def main(epochs=6):
    torch.manual_seed(2)
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y)
    network = RawNetwork([64, 80, 40, 10])
    updates = Momentum(network.params, lr=0.05)
    for epoch in range(epochs):
        total = 0.0
        for rows in torch.randperm(1400).split(35):
            loss = loss_of(network, x[rows], y[rows])
            updates.apply(torch.autograd.grad(loss, network.params))
            total += loss.item() * len(rows)
        with torch.no_grad():
            accuracy = (network(x[1400:]).argmax(1) == y[1400:]).float().mean()
        print(f"epoch {epoch} loss {total / 1400:.4f} test {accuracy:.4f}")


if __name__ == "__main__":
    main()
