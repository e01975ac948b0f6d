import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
BATCH = 32


class PumpLSTM(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.hidden = hidden
        self.lstm = nn.LSTM(3, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, 1)

    def init_hidden(self, batch_size):
        return (torch.zeros(1, batch_size, self.hidden), torch.zeros(1, batch_size, self.hidden))

    def forward(self, x):
        state = self.init_hidden(x.size(0))
        out, _ = self.lstm(x, state)
        return self.fc(out[:, -1]).squeeze(1)


def make_signals(n):
    t = torch.linspace(0, 6, 25)
    wear = torch.rand(n)
    freq = 1 + 3 * wear[:, None, None]
    x = torch.sin(freq * t[None, :, None] + torch.rand(n, 1, 3) * 6) + 0.05 * torch.randn(n, 25, 3)
    return x, wear


loader = DataLoader(TensorDataset(*make_signals(300)), batch_size=BATCH, shuffle=True)
model = PumpLSTM()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(5):
    total = 0.0
    for signal, wear in loader:
        loss = nn.functional.mse_loss(model(signal), wear)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(signal)
    print(f"epoch {epoch} mse {total / len(loader.dataset):.4f}")
