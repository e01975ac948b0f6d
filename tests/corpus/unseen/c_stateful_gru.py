import torch
import torch.nn as nn

torch.manual_seed(0)
CHUNK, BATCH = 20, 4


class StatefulRNN(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, h):
        y, h = self.gru(x, h)
        return self.out(y), h

    def init_hidden(self, batch):
        return torch.zeros(1, batch, self.gru.hidden_size)


def signal(n):
    t = torch.arange(n).float()
    base = torch.sin(t / 7) + 0.5 * torch.sin(t / 23)
    return torch.stack([base.roll(k * 11) for k in range(BATCH)]).unsqueeze(-1)


def repackage(h):
    """Keeps the state for the next chunk."""
    return h.clone()


data = signal(421)
inputs, targets = data[:, :-1], data[:, 1:]
model = StatefulRNN()
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(6):
    hidden = model.init_hidden(BATCH)
    epoch_loss = 0.0
    for start in range(0, inputs.size(1), CHUNK):
        x = inputs[:, start:start + CHUNK]
        y = targets[:, start:start + CHUNK]
        pred, hidden = model(x, hidden)
        hidden = repackage(hidden)
        loss = criterion(pred, y)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        epoch_loss += loss.item()
    print(f"epoch {epoch} loss {epoch_loss / (inputs.size(1) // CHUNK):.5f}")
