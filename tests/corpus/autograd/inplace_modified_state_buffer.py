import numpy as np
import torch
import torch.nn as nn


class LeakyCell(nn.Module):
    """Echo-like recurrent unit with a trained leak."""

    def __init__(self, n_in, n_hidden):
        super().__init__()
        self.inp = nn.Linear(n_in, n_hidden)
        self.rec = nn.Linear(n_hidden, n_hidden, bias=False)
        self.leak = nn.Parameter(torch.tensor(0.5))

    def forward(self, xs):
        h = xs.new_zeros(xs.size(0), self.rec.in_features)
        for x in xs.unbind(1):
            new = torch.tanh(self.inp(x) + self.rec(h))
            h += self.leak * (new - h)
        return h


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = LeakyCell(2, 24)
        self.readout = nn.Linear(24, 1)

    def forward(self, xs):
        return self.readout(self.cell(xs)).squeeze(-1)


def adding_problem(rng, n, length=8):
    values = rng.uniform(0, 1, (n, length)).astype(np.float32)
    marks = np.zeros((n, length), dtype=np.float32)
    for row in marks:
        row[rng.choice(length, 2, replace=False)] = 1
    return torch.from_numpy(np.stack([values, marks], -1)), torch.from_numpy((values * marks).sum(1))


def main():
    rng = np.random.default_rng(0)
    torch.manual_seed(0)
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    losses = []
    for step in range(1, 101):
        xs, y = adding_problem(rng, 50)
        loss = nn.functional.mse_loss(model(xs), y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        if step % 25 == 0:
            print(f"step {step} mse {np.mean(losses[-25:]):.6f}")


main()
