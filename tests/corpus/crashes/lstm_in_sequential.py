import torch
import torch.nn as nn


def build(features, hidden, classes):
    return nn.Sequential(
        nn.LSTM(features, hidden, batch_first=True),
        nn.Linear(hidden, classes),
    )


torch.manual_seed(0)
x = torch.randn(64, 9, 5)
y = torch.randint(0, 2, (64,))
model = build(5, 16, 2)
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    out = model(x)
    out = out[:, -1] if out.dim() == 3 else out
    loss = nn.functional.cross_entropy(out, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(epoch, loss.item())
