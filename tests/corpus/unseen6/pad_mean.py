import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

torch.manual_seed(1)
docs = []
for _ in range(600):
    label = int(torch.rand(()) < 0.5)
    n = int(torch.randint(4, 30, ()))
    words = torch.randint(1, 40, (n,)) + 20 * label
    docs.append((words, label))


def collate(batch):
    words, labels = zip(*batch)
    return pad_sequence(words, batch_first=True), torch.tensor(labels)


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(64, 16)
        self.head = nn.Linear(16, 2)

    def forward(self, ids):
        e = self.emb(ids)
        return self.head(e.mean(dim=1))


train = DataLoader(docs[:500], 32, shuffle=True, collate_fn=collate)
test = DataLoader(docs[500:], 50, collate_fn=collate)
model = Bag()
opt = torch.optim.Adam(model.parameters(), 0.01)
for epoch in range(6):
    total = 0.0
    model.train()
    for ids, y in train:
        loss = nn.functional.cross_entropy(model(ids), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(y)
    model.eval()
    with torch.no_grad():
        hit = sum((model(i).argmax(-1) == y).sum().item() for i, y in test)
    print(f"epoch {epoch} loss {total / 500:.3f} acc {hit / 100:.2f}")
