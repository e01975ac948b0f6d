import torch
from torch import nn

NAMES = """anna bella carla dora elena fiona greta hanna irina julia karin laura maria nora olga paula
rosa sara tessa ursula vera wanda xenia yara zoe adam boris carl david emil frank georg hugo ivan jonas
klaus lukas martin niklas otto peter rainer stefan thomas uwe viktor walter xaver yannick zeno""".split()

letters = sorted(set("".join(NAMES))) + ["."]
vocab = {c: i for i, c in enumerate(letters, start=1)}
size = len(vocab)


class NameModel(nn.Module):
    def __init__(self, size, dim=24):
        super().__init__()
        self.embed = nn.Embedding(size, dim, padding_idx=0)
        self.gru = nn.GRU(dim, 48, batch_first=True)
        self.head = nn.Linear(48, size)

    def forward(self, ids):
        states, _ = self.gru(self.embed(ids))
        return self.head(states)


def encode(names):
    longest = max(map(len, names)) + 2
    ids = torch.zeros(len(names), longest, dtype=torch.long)
    for i, name in enumerate(names):
        text = "." + name + "."
        ids[i, :len(text)] = torch.tensor([vocab[c] for c in text])
    return ids


torch.manual_seed(16)
data = encode(NAMES)
model = NameModel(size)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss(ignore_index=0)
for step in range(60):
    batch = data[torch.randperm(len(data))[:24]]
    logits = model(batch[:, :-1])
    loss = criterion(logits.reshape(-1, size), batch[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        print(step + 1, round(loss.item(), 3))
