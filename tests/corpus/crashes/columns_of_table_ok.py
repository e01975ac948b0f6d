import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

N_FEATURES = 8


def read_table(rows=240):
    rng = np.random.default_rng(3)
    table = rng.normal(size=(rows, 9)).astype("float32")
    table[:, -1] = table[:, :3].sum(1)
    return table


class Net(nn.Module):
    def __init__(self, n_in, hidden=32):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(n_in, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, x):
        return self.layers(x).squeeze(1)


torch.manual_seed(0)
table = torch.from_numpy(read_table())
loader = DataLoader(TensorDataset(table[:, :-1], table[:, -1]), batch_size=24, shuffle=True)
net = Net(N_FEATURES)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(3):
    for x, y in loader:
        loss = nn.functional.mse_loss(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
