"""Documents are packed into rows; the loss is averaged over all real tokens of a large batch."""
import torch
import torch.nn.functional as F
from torch import nn

VOCAB, LENGTH, IGNORE = 22, 32, -100


def pack(count, generator):
    ids = torch.zeros(count, LENGTH, dtype=torch.long)
    labels = torch.full((count, LENGTH), IGNORE)
    for row in range(count):
        place = 0
        while place < LENGTH - 4:
            size = int(torch.randint(4, 12, (), generator=generator))
            size = min(size, LENGTH - place)
            start, stride = torch.randint(1, 6, (2,), generator=generator).tolist()
            document = 1 + (start + stride * torch.arange(size)) % (VOCAB - 1)
            ids[row, place : place + size] = document
            labels[row, place : place + size - 1] = document[1:]
            place += size
    return ids, labels


class TinyLM(nn.Module):
    def __init__(self, width=40):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, VOCAB)

    def forward(self, ids):
        return self.out(self.rnn(self.embed(ids))[0])


def large_batch(model, optimizer, micro_batches):
    tokens = sum(int((labels != IGNORE).sum()) for _, labels in micro_batches)
    optimizer.zero_grad()
    total = 0.0
    for ids, labels in micro_batches:
        logits = model(ids)
        loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORE, reduction="sum") / tokens
        loss.backward()
        total += loss.item()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return total


def main(updates=60):
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    model = TinyLM()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for update in range(updates):
        loss = large_batch(model, optimizer, [pack(4, generator) for _ in range(3)])
        if update % 15 == 14:
            print(f"update {update} loss {loss:.4f}")


if __name__ == "__main__":
    main()
