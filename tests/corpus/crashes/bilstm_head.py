import torch
import torch.nn as nn


class Tagger(nn.Module):
    def __init__(self, vocab, hidden, tags):
        super().__init__()
        self.embed = nn.Embedding(vocab, 16)
        self.lstm = nn.LSTM(16, hidden, batch_first=True, bidirectional=True)
        self.head = nn.Linear(hidden, tags)

    def forward(self, ids):
        states, _ = self.lstm(self.embed(ids))
        return self.head(states)


torch.manual_seed(0)
ids = torch.randint(0, 30, (100, 9))
tags = ids % 4
model = Tagger(30, 20, 4)
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    for rows in torch.randperm(100).split(20):
        logits = model(ids[rows])
        loss = nn.functional.cross_entropy(logits.reshape(-1, 4), tags[rows].reshape(-1))
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
