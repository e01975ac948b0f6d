"""Time sequence prediction with LBFGS closures (LSTMCell, double precision)."""
import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim

np.random.seed(2)
torch.manual_seed(0)


class Sequence(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm1 = nn.LSTMCell(1, 20)
        self.linear = nn.Linear(20, 1)

    def forward(self, inputs, future=0):
        outputs = []
        h = torch.zeros(inputs.size(0), 20, dtype=torch.double)
        c = torch.zeros(inputs.size(0), 20, dtype=torch.double)
        for input_t in inputs.split(1, dim=1):
            h, c = self.lstm1(input_t, (h, c))
            output = self.linear(h)
            outputs.append(output)
        for _ in range(future):
            h, c = self.lstm1(output, (h, c))
            output = self.linear(h)
            outputs.append(output)
        return torch.cat(outputs, dim=1)


phase = np.random.randint(-80, 80, 12).reshape(12, 1)
data = np.sin((np.arange(60) + phase) / 8.0).astype("float64")
inputs, target = torch.from_numpy(data[3:, :-1]), torch.from_numpy(data[3:, 1:])
test_in, test_tg = torch.from_numpy(data[:3, :-1]), torch.from_numpy(data[:3, 1:])
seq = Sequence().double()
criterion = nn.MSELoss()
optimizer = optim.LBFGS(seq.parameters(), lr=0.5, max_iter=8)
for i in range(4):
    def closure():
        optimizer.zero_grad()
        loss = criterion(seq(inputs), target)
        loss.backward()
        return loss

    loss = optimizer.step(closure)
    with torch.no_grad():
        pred = seq(test_in, future=10)
        print(f"step {i} loss {loss.item():.6f} test {criterion(pred[:, :-10], test_tg).item():.6f}")
