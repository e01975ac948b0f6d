import random

import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(0)
torch.manual_seed(0)
VOCAB, PAD, MAX_LEN = 20, 0, 24


class BagOfEmbeddings(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.mlp = nn.Sequential(nn.Linear(dim, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, ids):
        keep = (ids != PAD).unsqueeze(-1)
        mean = (self.emb(ids) * keep).sum(1) / keep.sum(1)
        return self.mlp(mean)


def sentence():
    label = random.randint(0, 1)
    words = [random.randint(1, 9) if random.random() < (0.7 if label else 0.3) else random.randint(10, VOCAB - 1)
             for _ in range(random.randint(5, MAX_LEN))]
    return words, label


def batch(n):
    rows, labels = zip(*(sentence() for _ in range(n)))
    width = MAX_LEN
    ids = torch.tensor([r + [PAD] * (width - len(r)) for r in rows])
    return ids, torch.tensor(labels)


def main():
    model = BagOfEmbeddings()
    compiled = torch.compile(model, backend="eager", dynamic=False)
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(60):
        ids, labels = batch(4)
        loss = F.cross_entropy(compiled(ids), labels)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 15 == 14:
            print(f"{step + 1:3d} {loss.item():.6f}")


if __name__ == "__main__":
    main()
