import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
PAD, VOCAB, MAXLEN = 0, 60, 16


def make_reviews(n):
    ids = torch.zeros(n, MAXLEN, dtype=torch.long)
    labels = torch.zeros(n, dtype=torch.long)
    for i in range(n):
        length = int(torch.randint(6, MAXLEN - 1, (1,)))
        words = torch.randint(20, VOCAB, (length,))
        label = int(torch.randint(0, 2, (1,)))
        spots = torch.randperm(length)[:2]
        words[spots] = torch.randint(1, 10, (2,)) if label else torch.randint(10, 20, (2,))
        ids[i, :length] = words
        labels[i] = label
    return ids, labels


class ReviewEncoder(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, d, padding_idx=PAD)
        self.pos = nn.Parameter(torch.randn(1, MAXLEN, d) * 0.02)
        layer = nn.TransformerEncoderLayer(d, 4, 64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.head = nn.Linear(d, 2)

    def forward(self, ids):
        x = self.emb(ids) + self.pos
        mask = ids != PAD
        h = self.encoder(x, src_key_padding_mask=mask)
        return self.head(h[:, 0])


train = TensorDataset(*make_reviews(600))
test_ids, test_y = make_reviews(200)
loader = DataLoader(train, batch_size=32, shuffle=True)
model = ReviewEncoder()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
criterion = nn.CrossEntropyLoss()

for epoch in range(8):
    total = 0.0
    for ids, y in loader:
        opt.zero_grad()
        loss = criterion(model(ids), y)
        loss.backward()
        opt.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / len(loader):.4f}")

model.eval()
with torch.no_grad():
    acc = (model(test_ids).argmax(1) == test_y).float().mean()
print(f"test accuracy {acc:.3f}")
