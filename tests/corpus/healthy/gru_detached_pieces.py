import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)

rnn, head = nn.GRU(3, 16, batch_first=True), nn.Linear(16, 1)
opt = torch.optim.Adam([*rnn.parameters(), *head.parameters()], lr=5e-3)
series = torch.sin(torch.arange(0, 400) / 7.0)
series = torch.stack([series.roll(k) for k in range(4)])[:, :, None].repeat(1, 1, 3)
hidden = None
for start in range(0, 360, 30):
    x = series[:, start : start + 30]
    y = series[:, start + 1 : start + 31, :1]
    out, hidden = rnn(x, hidden)
    hidden = hidden.detach()
    loss = F.mse_loss(head(out), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
