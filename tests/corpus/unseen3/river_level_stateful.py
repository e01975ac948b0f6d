import torch
import torch.nn as nn

torch.manual_seed(10)
t = torch.arange(1200) / 20.0
level = torch.sin(t) + 0.4 * torch.sin(2.7 * t) + 0.03 * torch.randn(1200)
CHUNK = 40


class RiverGRU(nn.Module):
    def __init__(self, hidden=20):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.readout = nn.Linear(hidden, 1)

    def forward(self, x, h):
        out, h = self.gru(x, h)
        return self.readout(out), h


def train_epoch(model, optimizer):
    hidden = None
    total, n = 0.0, 0
    for start in range(0, len(level) - CHUNK - 1, CHUNK):
        x = level[start:start + CHUNK].view(1, CHUNK, 1)
        y = level[start + 1:start + CHUNK + 1].view(1, CHUNK, 1)
        pred, hidden = model(x, hidden)
        loss = nn.functional.mse_loss(pred, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total, n = total + loss.item(), n + 1
    return total / n


model = RiverGRU()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(8):
    print(f"epoch {epoch} mse {train_epoch(model, optimizer):.5f}")
