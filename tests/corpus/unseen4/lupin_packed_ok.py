import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

torch.manual_seed(17)


def sequences(n):
    xs, ys = [], []
    for _ in range(n):
        x = torch.randn(int(torch.randint(3, 15, (1,))), 2)
        xs.append(x)
        ys.append(float(x[:, 0].sum() > 0))
    return xs, torch.tensor(ys)


class PackedGRU(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(2, 24, batch_first=True)
        self.out = nn.Linear(24, 1)

    def forward(self, xs):
        lengths = torch.tensor([len(x) for x in xs])
        packed = pack_padded_sequence(pad_sequence(xs, batch_first=True), lengths, batch_first=True, enforce_sorted=False)
        _, h = self.gru(packed)
        return self.out(h[-1]).squeeze(1)


xs, ys = sequences(600)
tx, ty = sequences(200)
model = PackedGRU()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
bce = nn.BCEWithLogitsLoss()
for epoch in range(6):
    for idx in torch.randperm(600).split(40):
        loss = bce(model([xs[i] for i in idx]), ys[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        acc = ((model(tx) > 0).float() == ty).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.4f} acc {acc:.3f}")
