import math

import torch
from torch import nn

torch.manual_seed(16)

# four parallel streams read in order; the state is carried from chunk to chunk (truncated BPTT)
T, B, CHUNK = 1200, 4, 50
t = torch.arange(T + 1).float()
streams = torch.stack([torch.sin(2 * math.pi * t / p) for p in (17.0, 23.0, 31.0, 41.0)])
streams = streams + 0.05 * torch.randn_like(streams)
train, valid = streams[:, :1001], streams[:, 1000:]


class StreamModel(nn.Module):
    def __init__(self, hidden=20):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, 1)

    def forward(self, x, state=None):
        out, state = self.lstm(x.unsqueeze(-1), state)
        return self.fc(out).squeeze(-1), state


def detach(state):
    return tuple(s.detach() for s in state)


model = StreamModel()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
mse = nn.MSELoss()
for epoch in range(8):
    model.train()
    state, total, n = None, 0.0, 0
    for s in range(0, 1000, CHUNK):
        x, y = train[:, s:s + CHUNK], train[:, s + 1:s + CHUNK + 1]
        pred, state = model(x, state)
        loss = mse(pred, y)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        state = detach(state)
        total, n = total + loss.item(), n + 1
    model.eval()
    with torch.no_grad():
        pred, _ = model(valid[:, :-1], state)
        val = mse(pred, valid[:, 1:]).item()
    print(f"epoch {epoch} train {total / n:.4f} next-part {val:.4f}")
