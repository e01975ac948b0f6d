import torch
import torch.nn as nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class AddingProblem:
    """Sum of the two marked numbers in a sequence."""

    def __init__(self, length=20):
        self.length = length

    def sample(self, n):
        values = torch.rand(n, self.length)
        marks = torch.zeros(n, self.length)
        first = torch.randint(0, self.length // 2, (n, 1))
        second = torch.randint(self.length // 2, self.length, (n, 1))
        marks.scatter_(1, first, 1.0).scatter_(1, second, 1.0)
        return torch.stack([values, marks], dim=2), (values * marks).sum(1)


class RNNRegressor(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.rnn = nn.LSTM(2, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, 1)

    def forward(self, x):
        _, (h, _) = self.rnn(x)
        return self.fc(h[-1]).squeeze(1)


task = AddingProblem()
model = RNNRegressor().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
max_norm = 0.5

for it in range(60):
    x, y = task.sample(48)
    x, y = x.to(device), y.to(device)
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    if it % 10 == 0:
        print(f"iter {it}: {loss.item():.5f}")
