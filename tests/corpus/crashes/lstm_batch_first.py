import torch
import torch.nn as nn


class Forecaster(nn.Module):
    def __init__(self, hidden=20):
        super().__init__()
        self.hidden = hidden
        self.lstm = nn.LSTM(3, hidden, num_layers=1)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        state = (torch.zeros(1, x.size(0), self.hidden), torch.zeros(1, x.size(0), self.hidden))
        seq, _ = self.lstm(x, state)
        return self.out(seq[:, -1])


torch.manual_seed(0)
x = torch.randn(160, 12, 3)
y = x[:, -1].sum(1, keepdim=True)
net = Forecaster()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(4):
    for rows in torch.randperm(160).split(32):
        loss = (net(x[rows]) - y[rows]).abs().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
