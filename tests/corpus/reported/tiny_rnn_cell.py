"""A recurrent cell that has to remember the first symbol of the sequence."""
import torch
import torch.nn as nn

SYMBOLS = 4
STEPS = 8


class Cell(nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.candidate = nn.Linear(inputs + hidden, hidden)
        self.gate = nn.Linear(inputs + hidden, hidden)
        nn.init.constant_(self.gate.bias, -1.0)

    def forward(self, x, h):
        both = torch.cat([x, h], dim=1)
        z = torch.sigmoid(self.gate(both))
        return (1 - z) * h + z * torch.tanh(self.candidate(both))


class Reader(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.hidden = hidden
        self.cell = Cell(SYMBOLS, hidden)
        self.out = nn.Linear(hidden, SYMBOLS)

    def forward(self, sequence):
        h = torch.zeros(sequence.size(0), self.hidden)
        for t in range(sequence.size(1)):
            h = self.cell(sequence[:, t], h.data)
        return self.out(h)


def batch(n):
    tokens = torch.randint(0, SYMBOLS, (n, STEPS))
    return nn.functional.one_hot(tokens, SYMBOLS).float(), tokens[:, 0]


def main():
    torch.manual_seed(9)
    model = Reader()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()
    for step in range(1, 301):
        x, y = batch(64)
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 100 == 0:
            with torch.no_grad():
                x, y = batch(500)
                acc = (model(x).argmax(1) == y).float().mean().item()
            print(f"step {step} loss {loss.item():.3f} accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
