import torch
from torch import nn

torch.manual_seed(0)
T, CHUNK, LANES = 400, 20, 8


class Memory(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, state=None):
        h, state = self.lstm(x, state)
        return self.out(h), state


signal = torch.randint(0, 2, (LANES, T, 1)).float()
delayed = torch.cat([torch.zeros(LANES, 3, 1), signal[:, :-3]], dim=1)
model = Memory()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
loss_fn = nn.BCEWithLogitsLoss()

for epoch in range(4):
    state, total = None, 0.0
    for start in range(0, T, CHUNK):                # the chunks follow each other in time
        x, y = signal[:, start:start + CHUNK], delayed[:, start:start + CHUNK]
        if state is not None:
            state = tuple(s.detach() for s in state)
        out, state = model(x, state)
        loss = loss_fn(out, y)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / (T // CHUNK):.5f}")
