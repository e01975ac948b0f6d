import math
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class NextNote(Dataset):
    """Melodies as integer notes; a sample is a window and what follows it."""

    def __init__(self, notes, window):
        self.notes, self.window = notes, window

    def __len__(self):
        return (len(self.notes) - 1) // self.window

    def __getitem__(self, i):
        lo = i * self.window
        inputs = self.notes[lo:lo + self.window]
        labels = self.notes[lo + 1:lo + self.window + 1]
        return inputs, labels


def melody(bars, seed):
    rng = random.Random(seed)
    riffs = [[0, 4, 7, 12, 7, 4], [2, 5, 9, 5], [7, 11, 14, 11, 7], [5, 9, 12, 9, 5, 0]]
    notes = []
    for _ in range(bars):
        notes += rng.choice(riffs)
    return torch.tensor(notes)


class Composer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(15, 12)
        self.lstm = nn.LSTM(12, 32, num_layers=2, dropout=0.1, batch_first=True)
        self.decode = nn.Linear(32, 15)

    def forward(self, notes):
        return self.decode(self.lstm(self.embed(notes))[0])


torch.manual_seed(8)
train_loader = DataLoader(NextNote(melody(220, 1), 16), batch_size=8, shuffle=True)
valid_loader = DataLoader(NextNote(melody(60, 2), 16), batch_size=8)
model, loss_fn = Composer(), nn.CrossEntropyLoss()
optim = torch.optim.Adam(model.parameters(), 1e-2)

for epoch in range(1, 9):
    model.train()
    for notes, labels in train_loader:
        optim.zero_grad()
        loss = loss_fn(model(notes).flatten(0, 1), labels.flatten())
        loss.backward()
        optim.step()
    model.eval()
    with torch.no_grad():
        nll = [loss_fn(model(n).flatten(0, 1), l.flatten()).item() for n, l in valid_loader]
    print(f"epoch {epoch}: train {loss.item():.4f} valid perplexity {math.exp(sum(nll) / len(nll)):.4f}")
