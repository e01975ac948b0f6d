import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

np.random.seed(13)
torch.manual_seed(13)


def simulate(n, steps=20):
    phase = np.random.uniform(0, 2 * np.pi, (n, 1))
    y = np.random.randint(0, 2, n)
    t = np.arange(steps)[None]
    direction = np.where(y == 1, 1.0, -1.0)[:, None]
    a = np.sin(0.5 * t + phase)
    b = np.sin(0.5 * t + phase + direction * np.pi / 2)
    x = np.stack([a, b], axis=-1) + 0.8 * np.random.randn(n, steps, 2)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y)


class GaitRNN(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.rnn = nn.GRU(input_size=2, hidden_size=hidden, num_layers=1, batch_first=True)
        self.fc = nn.Linear(hidden, 2)

    def forward(self, x):
        out, _ = self.rnn(x)
        return self.fc(out[:, -1])


x_train, y_train = simulate(1000)
x_test, y_test = simulate(300)
loader = DataLoader(TensorDataset(x_train, y_train), batch_size=40, shuffle=True)
model = GaitRNN()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(8):
    model.train()
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        acc = (model(x_test).argmax(1) == y_test).float().mean().item()
    print(f"epoch {epoch}: loss {loss.item():.4f} test acc {acc:.3f}")
