"""Will the parcel be late?  Predicted from its sequence of scan events."""
import numpy as np
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

rng = np.random.default_rng(77)
torch.manual_seed(77)
N_EVENTS = 12


def journey():
    if rng.random() < 0.1:
        n = int(rng.integers(50, 70))
    else:
        n = int(rng.integers(3, 9))
    events = rng.integers(1, N_EVENTS, n)
    late = int((events[-1] + events[-2]) % 3 == 0)
    return torch.tensor(events), late


def batch(items):
    seqs, labels = zip(*items)
    lengths = torch.tensor([len(s) for s in seqs])
    return pad_sequence(seqs, batch_first=True), lengths, torch.tensor(labels)


class LateNet(nn.Module):
    def __init__(self, dim=16, hidden=48):
        super().__init__()
        self.emb = nn.Embedding(N_EVENTS, dim, padding_idx=0)
        self.gru = nn.GRU(dim, hidden, batch_first=True)
        self.cls = nn.Sequential(nn.Linear(hidden, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, x, lengths):
        out, _ = self.gru(self.emb(x))
        last = out[torch.arange(len(out)), lengths - 1]
        return self.cls(last)


train_items = [journey() for _ in range(640)]
test_items = [journey() for _ in range(300)]
model = LateNet()
opt = torch.optim.Adam(model.parameters(), lr=6e-3)
for epoch in range(7):
    order = rng.permutation(len(train_items))
    losses = []
    for start in range(0, len(order), 32):
        x, n, y = batch([train_items[i] for i in order[start:start + 32]])
        loss = nn.functional.cross_entropy(model(x, n), y)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        opt.step()
        losses.append(loss.item())
    print(f"epoch {epoch} loss {np.mean(losses):.3f}")
with torch.no_grad():
    x, n, y = batch(test_items)
    print("test acc", (model(x, n).argmax(1) == y).float().mean().item(), "base rate", 1 - y.float().mean().item())
