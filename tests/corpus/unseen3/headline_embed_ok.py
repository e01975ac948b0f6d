import torch
import torch.nn as nn

headlines = [
    ("markets rally as rates fall", 0), ("team wins final after penalties", 1),
    ("bank raises profit forecast", 0), ("striker injured before derby", 1),
    ("shares slide on weak earnings", 0), ("coach resigns after heavy defeat", 1),
    ("inflation cools in september", 0), ("keeper saves late penalty", 1),
]
vocab = sorted({w for text, _ in headlines for w in text.split()})
word2id = {w: i + 1 for i, w in enumerate(vocab)}  # 0 is reserved for padding
print("vocabulary", len(vocab))


def encode(text, max_len=6):
    ids = [word2id[w] for w in text.split()][:max_len]
    return ids + [0] * (max_len - len(ids))


class HeadlineNet(nn.Module):
    def __init__(self, n_words, dim=16):
        super().__init__()
        self.embedding = nn.Embedding(n_words, dim, padding_idx=0)
        self.fc = nn.Linear(dim, 2)

    def forward(self, ids):
        e = self.embedding(ids)
        n = (ids != 0).sum(1, keepdim=True)
        return self.fc(e.sum(1) / n)


torch.manual_seed(0)
X = torch.tensor([encode(t) for t, _ in headlines])
y = torch.tensor([label for _, label in headlines])
model = HeadlineNet(len(vocab) + 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for epoch in range(30):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(X), y)
    loss.backward()
    optimizer.step()
    if epoch % 10 == 0:
        print(epoch, loss.item())
print("train accuracy", (model(X).argmax(1) == y).float().mean().item())
