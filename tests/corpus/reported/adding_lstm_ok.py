import torch
from torch import nn
from torch.nn import functional as F

STEPS = 10


def adding_problem(n, generator):
    """Two marked numbers of the sequence have to be added."""
    values = torch.rand(n, STEPS, generator=generator)
    markers = torch.zeros(n, STEPS)
    first = torch.randint(0, STEPS // 2, (n,), generator=generator)
    second = torch.randint(STEPS // 2, STEPS, (n,), generator=generator)
    rows = torch.arange(n)
    markers[rows, first] = 1
    markers[rows, second] = 1
    target = values[rows, first] + values[rows, second]
    return torch.stack([values, markers], dim=2), target


class Adder(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.lstm = nn.LSTM(2, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        states, _ = self.lstm(x)
        return self.out(states[:, -1]).squeeze(1)


def main(steps=400, batch=64, seed=0):
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = Adder()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    x_test, y_test = adding_problem(512, generator)
    for step in range(1, steps + 1):
        x, y = adding_problem(batch, generator)
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            model.eval()
            with torch.no_grad():
                test = F.mse_loss(model(x_test), y_test).item()
            model.train()
            print(f"step {step}: train {loss.item():.4f} test {test:.4f} (guessing the mean gives {y_test.var().item():.4f})")


if __name__ == "__main__":
    main()
