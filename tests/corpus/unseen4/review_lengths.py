import random
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset, DataLoader

random.seed(0)
torch.manual_seed(0)
VOCAB = 60
GOOD = set(range(5, 15))
BAD = set(range(15, 25))


class Reviews(Dataset):
    def __init__(self, n):
        self.items = []
        for _ in range(n):
            label = random.randint(0, 1)
            pool = list(GOOD if label else BAD)
            words = [random.randint(25, VOCAB - 1) for _ in range(random.randint(4, 18))]
            words += random.sample(pool, 3)
            random.shuffle(words)
            self.items.append((torch.tensor(words), torch.tensor(label)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, idx):
        return self.items[idx]


def pad_batch(batch):
    seqs, labels = zip(*batch)
    lengths = torch.tensor([len(s) for s in seqs])
    return pad_sequence(seqs, batch_first=True, padding_value=0), lengths, torch.stack(labels)


class BagClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, 16, padding_idx=0)
        self.out = nn.Linear(16, 1)

    def forward(self, tokens, lengths):
        summed = self.emb(tokens).sum(dim=1)
        return self.out(summed / lengths.unsqueeze(1)).squeeze(1)


train_loader = DataLoader(Reviews(800), batch_size=32, shuffle=True)
val_loader = DataLoader(Reviews(200), batch_size=64, collate_fn=pad_batch)
model = BagClassifier()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
bce = nn.BCEWithLogitsLoss()
for epoch in range(5):
    for tokens, lengths, labels in train_loader:
        optimizer.zero_grad()
        loss = bce(model(tokens, lengths), labels.float())
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        right = sum(((model(t, l) > 0).long() == y).sum().item() for t, l, y in val_loader)
    print("epoch", epoch, "loss", loss.item(), "val acc", right / 200)
