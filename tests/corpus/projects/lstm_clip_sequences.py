"""An LSTM that adds the marked numbers of a sequence."""
import torch
from torch import nn


class Adder(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.lstm = nn.LSTM(2, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        states, _ = self.lstm(x)
        return self.out(states[:, -1]).squeeze(-1)


def make_batch(size, length, generator):
    values = torch.rand(size, length, generator=generator)
    marks = torch.zeros(size, length)
    first = torch.randint(0, length // 2, (size,), generator=generator)
    second = torch.randint(length // 2, length, (size,), generator=generator)
    rows = torch.arange(size)
    marks[rows, first] = 1
    marks[rows, second] = 1
    target = values[rows, first] + values[rows, second]
    return torch.stack([values, marks], dim=-1), target


def train_step(model, optimizer, batch, max_norm):
    x, y = batch
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    loss.backward()
    optimizer.step()
    return loss.item()


def evaluate(model, length, generator):
    model.eval()
    with torch.no_grad():
        x, y = make_batch(512, length, generator)
        error = (model(x) - y).abs().mean().item()
    model.train()
    return error


def main(steps=300, length=12):
    torch.manual_seed(2)
    generator = torch.Generator().manual_seed(9)
    model = Adder()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    history = []
    for step in range(steps):
        history.append(train_step(model, optimizer, make_batch(64, length, generator), max_norm=1.0))
        if (step + 1) % 100 == 0:
            recent = sum(history[-100:]) / 100
            print(f"step {step + 1} loss {recent:.4f} error {evaluate(model, length, generator):.4f}")


if __name__ == "__main__":
    main()
