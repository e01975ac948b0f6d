import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset


class Reviews(Dataset):
    def __init__(self, n=200):
        rng = random.Random(0)
        self.items = []
        for _ in range(n):
            ids = [rng.randrange(1, 60) for _ in range(rng.randint(5, 12))]
            self.items.append((torch.tensor(ids), float(5 in ids)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def pad(batch):
    ids, labels = zip(*batch)
    return pad_sequence(ids, batch_first=True), torch.tensor(labels)


torch.manual_seed(0)
loader = DataLoader(Reviews(), batch_size=20, shuffle=True, collate_fn=pad)
embed = nn.Embedding(60, 12, padding_idx=0)
head = nn.Linear(12, 1)
opt = torch.optim.Adam([*embed.parameters(), *head.parameters()], lr=1e-2)
for epoch in range(3):
    for ids, label in loader:
        logit = head(embed(ids).sum(1)).squeeze(1)
        loss = nn.functional.binary_cross_entropy_with_logits(logit, label.float())
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
