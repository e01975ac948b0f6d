import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset


class Trips(Dataset):
    """GPS speed traces; label 1 when the average trend is rising."""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.items = []
        for _ in range(n):
            length = int(torch.randint(8, 25, (1,), generator=g))
            label = int(torch.randint(0, 2, (1,), generator=g))
            slope = 0.06 if label else -0.06
            t = torch.arange(length).float()
            trace = slope * t + 0.3 * torch.randn(length, generator=g)
            self.items.append((trace.unsqueeze(1), label))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def pad_batch(batch):
    traces, labels = zip(*batch)
    lengths = torch.tensor([len(t) for t in traces])
    return pad_sequence(traces, batch_first=True), lengths, torch.tensor(labels)


class TripNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(1, 16, batch_first=True)
        self.fc = nn.Linear(16, 2)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        _, (h, _) = self.lstm(packed)
        return self.fc(h[-1])


torch.manual_seed(2)
train = DataLoader(Trips(400, 0), batch_size=32, shuffle=True)
test = DataLoader(Trips(200, 1), batch_size=50, collate_fn=pad_batch)
net = TripNet()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(6):
    for x, lengths, y in train:
        loss = nn.functional.cross_entropy(net(x, lengths), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        ok = sum((net(x, n).argmax(1) == y).sum().item() for x, n, y in test)
    print(f"epoch {epoch} loss {loss.item():.4f} acc {ok / 200:.3f}")
