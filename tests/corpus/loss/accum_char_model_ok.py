import torch
import torch.nn.functional as F

TEXT = "she sells sea shells by the sea shore and the shells she sells are sea shells i am sure " * 6
chars = sorted(set(TEXT))
ids = torch.tensor([chars.index(c) for c in TEXT])
BLOCK, MICRO, ACCUM, UPDATES = 10, 8, 4, 40

torch.manual_seed(123)


class CharMLP(torch.nn.Module):
    def __init__(self, vocab, block, d=10, h=64):
        super().__init__()
        self.emb = torch.nn.Embedding(vocab, d)
        self.l1 = torch.nn.Linear(block * d, h)
        self.l2 = torch.nn.Linear(h, vocab)

    def forward(self, x):
        return self.l2(torch.tanh(self.l1(self.emb(x).flatten(1))))


def micro_batch():
    start = torch.randint(0, len(ids) - BLOCK - 1, (MICRO,))
    x = torch.stack([ids[s:s + BLOCK] for s in start])
    y = ids[start + BLOCK]
    return x, y


model = CharMLP(len(chars), BLOCK)
optimizer = torch.optim.SGD(model.parameters(), lr=0.4)

for update in range(UPDATES):
    optimizer.zero_grad()
    shown = 0.0
    for _ in range(ACCUM):
        x, y = micro_batch()
        loss = F.cross_entropy(model(x), y)
        shown += loss.item() / ACCUM
        (loss / ACCUM).backward()
    optimizer.step()
    if update % 8 == 0 or update == UPDATES - 1:
        print(f"update {update:3d} loss {shown:.5f}")
