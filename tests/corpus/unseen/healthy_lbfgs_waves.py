import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim

np.random.seed(2)
torch.manual_seed(0)
T, L, N = 10, 60, 12
x = np.array(range(L)) + np.random.randint(-4 * T, 4 * T, N).reshape(N, 1)
data = torch.from_numpy(np.sin(x / 1.0 / T).astype("float64"))


class Sequence(nn.Module):
    def __init__(self, hidden=12):
        super().__init__()
        self.hidden = hidden
        self.lstm1 = nn.LSTMCell(1, hidden)
        self.linear = nn.Linear(hidden, 1)

    def forward(self, inp, future=0):
        outputs = []
        h = torch.zeros(inp.size(0), self.hidden, dtype=torch.double)
        c = torch.zeros(inp.size(0), self.hidden, dtype=torch.double)
        for step in inp.split(1, dim=1):
            h, c = self.lstm1(step, (h, c))
            output = self.linear(h)
            outputs += [output]
        for _ in range(future):
            h, c = self.lstm1(output, (h, c))
            output = self.linear(h)
            outputs += [output]
        return torch.cat(outputs, dim=1)


inp, target = data[3:, :-1], data[3:, 1:]
test_input, test_target = data[:3, :-1], data[:3, 1:]
seq = Sequence()
seq.double()
criterion = nn.MSELoss()
optimizer = optim.LBFGS(seq.parameters(), lr=0.8, max_iter=8)
for i in range(5):
    def closure():
        optimizer.zero_grad()
        out = seq(inp)
        loss = criterion(out, target)
        loss.backward()
        return loss

    loss = optimizer.step(closure)
    with torch.no_grad():
        pred = seq(test_input, future=20)
        test_loss = criterion(pred[:, :-20], test_target)
    print(f"STEP {i} loss {loss.item():.6f} test loss {test_loss.item():.6f}")
