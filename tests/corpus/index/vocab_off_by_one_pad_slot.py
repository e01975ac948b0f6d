import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

sentences = [
    ("open the door please", 0), ("close the window now", 1), ("please open the old box", 0),
    ("shut and close this lid", 1), ("can you open a tin", 0), ("close your eyes", 1),
    ("open up", 0), ("you must close it", 1), ("now open wide", 0), ("do close the zip", 1),
] * 8

word2idx = {}
for text, _ in sentences:
    for w in text.split():
        if w not in word2idx:
            word2idx[w] = len(word2idx) + 1      # 0 is kept for padding


def collate_batch(batch):
    ids = [torch.tensor([word2idx[w] for w in text.split()]) for text, _ in batch]
    return pad_sequence(ids, batch_first=True, padding_value=0), torch.tensor([l for _, l in batch])


class IntentModel(nn.Module):
    def __init__(self, vocab_size, dim=10):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, dim, padding_idx=0)
        self.conv = nn.Conv1d(dim, 16, 3, padding=1)
        self.out = nn.Linear(16, 2)

    def forward(self, ids):
        x = self.embedding(ids).transpose(1, 2)
        x = torch.relu(self.conv(x)).max(dim=2).values
        return self.out(x)


torch.manual_seed(40)
model = IntentModel(len(word2idx))
loader = DataLoader(sentences, batch_size=16, shuffle=True, collate_fn=collate_batch)
opt = torch.optim.Adam(model.parameters(), lr=0.01)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(8):
    running = 0.0
    for ids, intent in loader:
        opt.zero_grad()
        loss = loss_fn(model(ids), intent)
        loss.backward()
        opt.step()
        running += loss.item()
    print(f"epoch {epoch + 1} loss {running / len(loader):.6f}")
