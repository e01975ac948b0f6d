import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

SEQ_LEN = 12
BATCH_SIZE = 32


class SineWindows(Dataset):
    def __init__(self, n_points=260):
        rng = np.random.default_rng(4)
        t = np.arange(n_points) * 0.2
        self.series = (np.sin(t) + 0.1 * rng.standard_normal(n_points)).astype(np.float32)

    def __len__(self):
        return len(self.series) - SEQ_LEN

    def __getitem__(self, i):
        window = torch.from_numpy(self.series[i:i + SEQ_LEN]).unsqueeze(-1)
        return window, torch.tensor([self.series[i + SEQ_LEN]])


class Forecaster(nn.Module):
    def __init__(self, hidden_size=24, num_layers=1):
        super().__init__()
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.lstm = nn.LSTM(1, hidden_size, num_layers, batch_first=True)
        self.linear = nn.Linear(hidden_size, 1)

    def init_hidden(self, batch_size):
        weight = next(self.parameters())
        shape = (self.num_layers, batch_size, self.hidden_size)
        return weight.new_zeros(shape), weight.new_zeros(shape)

    def forward(self, x):
        h0, c0 = self.init_hidden(BATCH_SIZE)
        out, _ = self.lstm(x, (h0, c0))
        return self.linear(out[:, -1])


torch.manual_seed(4)
loader = DataLoader(SineWindows(), batch_size=BATCH_SIZE, shuffle=True)
model = Forecaster()
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

for epoch in range(8):
    losses = []
    for x, target in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), target)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    print("epoch %d  mse %.6f" % (epoch, np.mean(losses)))
