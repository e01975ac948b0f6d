import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import BatchSampler, DataLoader, Dataset, Sampler

random.seed(0)
torch.manual_seed(0)


class Brackets(Dataset):
    """Is the bracket string balanced in depth below three?"""

    def __init__(self, n):
        self.items = []
        for _ in range(n):
            depth, deepest, seq = 0, 0, []
            for _ in range(random.randint(4, 24)):
                opening = depth == 0 or random.random() < 0.5
                seq.append(1 if opening else 2)
                depth += 1 if opening else -1
                deepest = max(deepest, depth)
            self.items.append((torch.tensor(seq), int(deepest >= 3)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


class BucketSampler(Sampler):
    def __init__(self, ds, size):
        self.lengths, self.size = [len(s) for s, _ in ds.items], size

    def __iter__(self):
        order = sorted(range(len(self.lengths)), key=lambda i: self.lengths[i] + random.random() * 2)
        batches = list(BatchSampler(order, self.size, drop_last=False))
        random.shuffle(batches)
        return iter(batches)

    def __len__(self):
        return (len(self.lengths) + self.size - 1) // self.size


def collate(batch):
    batch.sort(key=lambda b: -len(b[0]))
    seqs, labels = zip(*batch)
    return pad_sequence(seqs, batch_first=True), torch.tensor([len(s) for s in seqs]), torch.tensor(labels)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(3, 8, padding_idx=0)
        self.lstm = nn.LSTM(8, 24, batch_first=True)
        self.fc = nn.Linear(24, 2)

    def forward(self, x, lens):
        out, _ = self.lstm(pack_padded_sequence(self.emb(x), lens, batch_first=True))
        out, _ = pad_packed_sequence(out, batch_first=True, padding_value=float("-inf"))
        return self.fc(out.amax(1))


ds, test = Brackets(500), Brackets(200)
loader = DataLoader(ds, batch_sampler=BucketSampler(ds, 25), collate_fn=collate)
model = Net()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(6):
    for x, lens, y in loader:
        loss = nn.functional.cross_entropy(model(x, lens), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        x, lens, y = collate(list(test.items))
        print(f"epoch {epoch} loss {loss.item():.4f} test acc {(model(x, lens).argmax(1) == y).float().mean():.3f}")
