import torch
from torch import nn

PAD, OPEN, CLOSE = 0, 1, 2


def balanced(tokens):
    depth = 0
    for t in tokens:
        depth += 1 if t == OPEN else -1
        if depth < 0:
            return 0
    return int(depth == 0)


def make_batch(size, generator, max_len=12):
    lengths = 2 * torch.randint(2, max_len // 2 + 1, (size,), generator=generator)
    tokens = torch.full((max_len, size), PAD)
    labels = torch.zeros(size)
    for i, n in enumerate(lengths.tolist()):
        row = torch.randint(OPEN, CLOSE + 1, (n,), generator=generator)
        row[0], row[-1] = OPEN, CLOSE
        tokens[:n, i] = row
        labels[i] = balanced(row.tolist())
    return tokens, labels


class Checker(nn.Module):
    def __init__(self, dim=32, max_len=12):
        super().__init__()
        self.embed = nn.Embedding(3, dim, padding_idx=PAD)
        self.position = nn.Parameter(torch.randn(max_len, 1, dim) * 0.02)
        self.attention = nn.MultiheadAttention(dim, 4)
        self.norm = nn.LayerNorm(dim)
        self.score = nn.Sequential(nn.Linear(dim, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, tokens):
        padding = (tokens == PAD).t()
        x = self.embed(tokens) + self.position
        mixed, _ = self.attention(x, x, x, key_padding_mask=padding)
        x = self.norm(x + mixed)
        keep = (tokens != PAD).unsqueeze(-1).float()
        return self.score((x * keep).sum(0) / keep.sum(0)).squeeze(-1)


torch.manual_seed(2)
generator = torch.Generator().manual_seed(2)
model = Checker()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
criterion = nn.BCEWithLogitsLoss()
for step in range(80):
    tokens, labels = make_batch(64, generator)
    optimizer.zero_grad()
    loss = criterion(model(tokens), labels)
    loss.backward()
    optimizer.step()
    if (step + 1) % 20 == 0:
        print(step + 1, round(loss.item(), 4))
