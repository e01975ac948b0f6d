"""Gradient accumulation with sum losses divided by the true number of targets."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

PAD = 0


class Copy(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.rows = []
        for _ in range(n):
            k = int(torch.randint(3, 10, (1,), generator=g))
            self.rows.append(torch.randint(1, 9, (k,), generator=g))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(rows):
    x = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)
    y = torch.where(x > 0, x.cumsum(1) % 8 + 1, torch.zeros_like(x))
    return x, y


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(9, 16, padding_idx=PAD)
        self.rnn = nn.GRU(16, 48, batch_first=True)
        self.out = nn.Linear(48, 9)

    def forward(self, x):
        return self.out(self.rnn(self.emb(x))[0])


torch.manual_seed(2)
loader = DataLoader(Copy(512, 0), batch_size=8, shuffle=True, collate_fn=collate)
model = Model()
criterion = nn.CrossEntropyLoss(ignore_index=PAD, reduction="sum")
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
ACCUM = 4
for epoch in range(10):
    opt.zero_grad()
    tokens, epoch_loss, epoch_tokens = 0, 0.0, 0
    for i, (x, y) in enumerate(loader):
        loss = criterion(model(x).flatten(0, 1), y.flatten())
        loss.backward()
        n = int((y != PAD).sum())
        tokens += n
        epoch_tokens += n
        epoch_loss += loss.item()
        if (i + 1) % ACCUM == 0 or i + 1 == len(loader):
            for p in model.parameters():
                p.grad /= tokens
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            opt.zero_grad()
            tokens = 0
    print(f"epoch {epoch} loss per token {epoch_loss / epoch_tokens:.4f}")
