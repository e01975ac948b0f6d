"""Whale call detector: variable-length hydrophone clips."""
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset


class CallDataset(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.items = []
        for _ in range(n):
            length = int(torch.randint(20, 60, (1,), generator=g))
            kind = int(torch.randint(0, 2, (1,), generator=g))
            t = torch.arange(length).float()
            base = torch.sin(t * (0.2 + 0.6 * kind))
            clip = torch.stack([base, base.roll(1)], 1) + 0.3 * torch.randn(length, 2, generator=g)
            self.items.append((clip, kind))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        clip, kind = self.items[i]
        return clip, torch.tensor(kind), torch.tensor(len(clip))


def pad_batch(batch):
    clips, kinds, lengths = zip(*batch)
    return pad_sequence(clips, batch_first=True), torch.stack(kinds), torch.stack(lengths)


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(2, 24, batch_first=True)
        self.fc = nn.Linear(24, 2)

    def forward(self, x, lengths):
        out, _ = self.gru(x)
        mask = torch.arange(x.size(1))[None] < lengths[:, None]
        pooled = (out * mask[..., None]).sum(1) / lengths[:, None]
        return self.fc(pooled)


torch.manual_seed(0)
train_set, test_set = CallDataset(200, 0), CallDataset(80, 1)
train_loader = DataLoader(train_set, batch_size=25, shuffle=True, collate_fn=pad_batch)
test_loader = DataLoader(test_set, batch_size=40, collate_fn=pad_batch)
model = Detector()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(5):
    for x, y, n in train_loader:
        loss = nn.functional.cross_entropy(model(x, n), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
with torch.no_grad():
    print("acc", sum((model(x, n).argmax(1) == y).sum().item() for x, y, n in test_loader) / 80)
