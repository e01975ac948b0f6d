import torch
import torch.nn as nn
from torch.utils.data import DataLoader

samples = [(torch.randn(torch.randint(3, 8, ()).item(), 2), i % 2) for i in range(60)]


def collate(batch):
    seqs = [s for s, _ in batch]
    labels = torch.tensor([y for _, y in batch])
    padded = nn.utils.rnn.pad_sequence(seqs, batch_first=True)
    lengths = torch.tensor([len(s) for s in seqs])
    return padded, lengths, labels


torch.manual_seed(0)
gru, head = nn.GRU(2, 8, batch_first=True), nn.Linear(8, 2)
opt = torch.optim.Adam([*gru.parameters(), *head.parameters()], lr=1e-2)
for epoch in range(2):
    for x, lengths, y in DataLoader(samples, batch_size=12, collate_fn=collate):
        _, h = gru(x)
        loss = nn.functional.cross_entropy(head(h[0]), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
print(loss.item())
