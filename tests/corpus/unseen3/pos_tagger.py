import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

torch.manual_seed(11)
PAD_TAG = 0
N_TAGS = 5
VOCAB = 200


def make_corpus(n):
    corpus = []
    for _ in range(n):
        length = int(torch.randint(3, 9, (1,))) if torch.rand(1) < 0.9 else 60
        words = torch.randint(1, VOCAB, (length,))
        tags = (words * 7 % 4) + 1
        corpus.append((words, tags))
    return corpus


def collate(batch):
    words, tags = zip(*batch)
    return (pad_sequence(words, batch_first=True, padding_value=0),
            pad_sequence(tags, batch_first=True, padding_value=PAD_TAG))


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, 24, padding_idx=0)
        self.lstm = nn.LSTM(24, 24, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(48, N_TAGS)

    def forward(self, words):
        out, _ = self.lstm(self.embedding(words))
        return self.fc(out)


train_loader = DataLoader(make_corpus(400), batch_size=40, shuffle=True, collate_fn=collate)
val_loader = DataLoader(make_corpus(80), batch_size=40, collate_fn=collate)
model = Tagger()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(6):
    model.train()
    running = 0.0
    for words, tags in train_loader:
        optimizer.zero_grad()
        logits = model(words)
        loss = criterion(logits.view(-1, N_TAGS), tags.view(-1))
        loss.backward()
        optimizer.step()
        running += loss.item()
    model.eval()
    hit = seen = 0
    with torch.no_grad():
        for words, tags in val_loader:
            pred = model(words).argmax(-1)
            real = tags != PAD_TAG
            hit += (pred[real] == tags[real]).sum().item()
            seen += real.sum().item()
    print(f"epoch {epoch} train loss {running / len(train_loader):.4f} val token acc {hit / seen:.3f}")
