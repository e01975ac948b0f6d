import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

random.seed(0)
torch.manual_seed(0)


class DNADataset(Dataset):
    """Random reads; positive ones hold the motif."""

    MOTIF = [0, 0, 0, 0, 0]

    def __init__(self, n):
        self.items = []
        for _ in range(n):
            seq = [random.randrange(4) for _ in range(random.randint(12, 24))]
            label = random.randrange(2)
            if label:
                p = random.randrange(len(seq) - 5)
                seq[p:p + 5] = self.MOTIF
            self.items.append((torch.tensor(seq), len(seq), float(label)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def pad_batch(items):
    seqs, lens, labels = zip(*items)
    return pad_sequence(seqs, batch_first=True), torch.tensor(lens), torch.tensor(labels)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(4, 8)
        self.lstm = nn.LSTM(8, 16, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(32, 1)

    def forward(self, x, lens):
        packed = pack_padded_sequence(self.emb(x), lens, batch_first=True, enforce_sorted=False)
        _, (h, _) = self.lstm(packed)
        return self.fc(torch.cat([h[0], h[1]], 1)).squeeze(1)


loader = DataLoader(DNADataset(300), batch_size=20, shuffle=True)
model = Net()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
bce = nn.BCEWithLogitsLoss()
for epoch in range(4):
    total = 0.0
    for seqs, lens, labels in loader:
        loss = bce(model(seqs, lens), labels.float())
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / len(loader):.4f}")
