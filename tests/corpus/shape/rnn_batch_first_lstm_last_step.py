import math
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(33)
device = "cuda" if torch.cuda.is_available() else "cpu"

N, T = 480, 20
freq = torch.rand(N, 1) * 0.6 + 0.2
phase = torch.rand(N, 1) * 2 * math.pi
steps = torch.arange(T + 1).float()
waves = torch.sin(freq * steps + phase)
inputs, targets = waves[:, :-1].unsqueeze(-1), waves[:, -1:]
train_set = TensorDataset(inputs[:400], targets[:400])
val_set = TensorDataset(inputs[400:], targets[400:])
train_loader = DataLoader(train_set, batch_size=40, shuffle=True)
val_loader = DataLoader(val_set, batch_size=40)


class NextValue(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.rnn = nn.LSTM(input_size=1, hidden_size=hidden, num_layers=1)
        self.head = nn.Sequential(nn.Linear(hidden, 12), nn.Tanh(), nn.Linear(12, 1))

    def forward(self, seq):
        states, _ = self.rnn(seq)
        return self.head(states[:, -1])


net = NextValue().to(device)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
mse = nn.MSELoss()

for epoch in range(1, 9):
    net.train()
    running = 0.0
    for seq, nxt in train_loader:
        seq, nxt = seq.to(device), nxt.to(device)
        opt.zero_grad()
        loss = mse(net(seq), nxt)
        loss.backward()
        opt.step()
        running += loss.item()
    net.eval()
    val = 0.0
    with torch.no_grad():
        for seq, nxt in val_loader:
            val += mse(net(seq.to(device)), nxt.to(device)).item()
    print(f"{epoch}\t{running / len(train_loader):.6f}\t{val / len(val_loader):.6f}")
