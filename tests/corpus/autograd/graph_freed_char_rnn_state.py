import torch
import torch.nn as nn

torch.manual_seed(0)
text = ("to be or not to be that is the question whether tis nobler in the mind to suffer " * 8)
vocab = sorted(set(text))
encode = {ch: i for i, ch in enumerate(vocab)}
ids = torch.tensor([encode[ch] for ch in text])

batch_size, seq_len, hidden = 4, 12, 40
n = (len(ids) - 1) // batch_size * batch_size
source = ids[:n].view(batch_size, -1)
target = ids[1:n + 1].view(batch_size, -1)


class CharRNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(len(vocab), 16)
        self.rnn = nn.GRU(16, hidden, batch_first=True)
        self.decode = nn.Linear(hidden, len(vocab))

    def forward(self, x, state):
        out, state = self.rnn(self.embed(x), state)
        return self.decode(out), state


model = CharRNN()
optimizer = torch.optim.Adam(model.parameters(), lr=8e-3)
criterion = nn.CrossEntropyLoss()

for epoch in range(5):
    state = torch.zeros(1, batch_size, hidden)
    total, chunks = 0.0, 0
    for i in range(0, source.size(1), seq_len):
        x, y = source[:, i:i + seq_len], target[:, i:i + seq_len]
        logits, state = model(x, state)
        loss = criterion(logits.reshape(-1, len(vocab)), y.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item()
        chunks += 1
    print(f"epoch {epoch} ce {total / chunks:.6f}")
