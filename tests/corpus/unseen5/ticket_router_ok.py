"""Route support tickets with a transformer encoder and a [CLS] token."""
import random

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

PAD, CLS = 0, 1
TOPICS = {0: range(2, 8), 1: range(8, 14), 2: range(14, 20)}
COMMON = range(20, 40)
WIDTH = 18


def ticket(rng):
    topic = rng.randrange(3)
    body = [rng.choice(COMMON) for _ in range(rng.randint(5, 12))]
    for _ in range(3):
        body.insert(rng.randrange(len(body)), rng.choice(TOPICS[topic]))
    ids = [CLS] + body
    return ids + [PAD] * (WIDTH - len(ids)), topic


class Router(nn.Module):
    def __init__(self, vocab=40, dim=32):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim, padding_idx=PAD)
        self.pos = nn.Parameter(torch.randn(1, WIDTH, dim) * 0.02)
        layer = nn.TransformerEncoderLayer(dim, 4, 64, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.fc = nn.Linear(dim, 3)

    def forward(self, ids):
        mask = ids == PAD
        h = self.encoder(self.tok(ids) + self.pos, src_key_padding_mask=mask)
        return self.fc(h[:, 0])


def build_set(n, seed):
    rng = random.Random(seed)
    rows = [ticket(rng) for _ in range(n)]
    return TensorDataset(torch.tensor([r[0] for r in rows]), torch.tensor([r[1] for r in rows]))


def run():
    torch.manual_seed(5)
    train = DataLoader(build_set(600, 0), batch_size=50, shuffle=True)
    valid = DataLoader(build_set(200, 1), batch_size=100)
    net = Router()
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    for epoch in range(8):
        net.train()
        for ids, topic in train:
            loss = nn.functional.cross_entropy(net(ids), topic)
            opt.zero_grad()
            loss.backward()
            opt.step()
        net.eval()
        with torch.no_grad():
            acc = sum((net(i).argmax(1) == t).sum().item() for i, t in valid) / 200
        print(f"epoch {epoch} loss {loss.item():.3f} valid acc {acc:.3f}")


run()
