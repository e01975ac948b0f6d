import zlib
import torch
from torch import nn
from torch.utils.data import DataLoader

BUCKETS = 64

GOOD = "great lovely brilliant warm sharp funny moving fresh".split()
BAD = "dull slow awful weak flat noisy cheap boring".split()
FILL = "the film was a bit and very with its plot actors music scene end".split()


def reviews(n, seed):
    g = torch.Generator().manual_seed(seed)
    out = []
    for i in range(n):
        label = i % 2
        words = [FILL[k] for k in torch.randint(len(FILL), (6,), generator=g).tolist()]
        words += [(GOOD if label else BAD)[k] for k in torch.randint(8, (2,), generator=g).tolist()]
        out.append((" ".join(words), label))
    return out


def hash_words(sentence, buckets):
    return [zlib.crc32(w.encode()) % buckets for w in sentence.split()]


def collate(batch):
    ids, offsets, labels = [], [], []
    for sentence, label in batch:
        offsets.append(len(ids))
        ids.extend(hash_words(sentence, BUCKETS))
        labels.append(label)
    return torch.tensor(ids), torch.tensor(offsets), torch.tensor(labels)


class BagModel(nn.Module):
    def __init__(self, buckets, dim=12):
        super().__init__()
        self.bag = nn.EmbeddingBag(buckets, dim, mode="mean")
        self.fc = nn.Linear(dim, 2)

    def forward(self, ids, offsets):
        return self.fc(self.bag(ids, offsets))


def main():
    torch.manual_seed(0)
    loader = DataLoader(reviews(240, 0), batch_size=24, shuffle=True, collate_fn=collate)
    model = BagModel(buckets=50)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
    for epoch in range(6):
        total = 0.0
        for ids, offsets, labels in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(ids, offsets), labels)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.6f}")


if __name__ == "__main__":
    main()
