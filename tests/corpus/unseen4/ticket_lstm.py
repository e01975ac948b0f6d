import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

torch.manual_seed(5)


def make_tickets(n):
    items = []
    for _ in range(n):
        length = int(torch.randint(4, 90, (1,)))
        seq = torch.randint(3, 30, (length,))
        label = int(torch.randint(0, 3, (1,)))
        seq[-1 - int(torch.randint(0, 3, (1,)))] = label + 30
        items.append((seq, label))
    return items


def collate(batch):
    seqs = [s for s, _ in batch]
    lengths = torch.tensor([len(s) for s in seqs])
    return pad_sequence(seqs, batch_first=True), lengths, torch.tensor([l for _, l in batch])


class TicketLSTM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(33, 16)
        self.lstm = nn.LSTM(16, 32, batch_first=True)
        self.fc = nn.Linear(32, 3)

    def forward(self, tokens, lengths):
        out, _ = self.lstm(self.embed(tokens))
        last = out[:, -1, :]
        return self.fc(last)


train_dl = DataLoader(make_tickets(800), batch_size=32, shuffle=True, collate_fn=collate)
test_dl = DataLoader(make_tickets(200), batch_size=50, collate_fn=collate)
model = TicketLSTM()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(6):
    model.train()
    total = 0.0
    for tokens, lengths, labels in train_dl:
        loss = nn.functional.cross_entropy(model(tokens, lengths), labels)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        hits = sum((model(t, n).argmax(1) == y).sum().item() for t, n, y in test_dl)
    print(f"epoch {epoch} loss {total / len(train_dl):.4f} test acc {hits / 200:.3f}")
