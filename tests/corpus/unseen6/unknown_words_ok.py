import torch
from torch import nn

torch.manual_seed(0)
pos, neg, filler = "great lovely superb fun".split(), "bad boring awful dull".split(), "The Movie Was A Bit This Plot".split()


def sentence(y):
    w = [(pos if y else neg)[int(torch.randint(4, ()))].capitalize() for _ in range(2)]
    w += [filler[int(torch.randint(7, ()))] for _ in range(5)]
    return " ".join(w[i] for i in torch.randperm(7))


labels = torch.randint(0, 2, (700,)).tolist()
texts = [sentence(y) for y in labels]
vocab = {"<pad>": 0, "<unk>": 1}
for t in texts[:500]:
    for w in t.lower().split():
        vocab.setdefault(w, len(vocab))


def encode(words):
    return torch.tensor([vocab.get(w, 1) for w in words])


train = torch.stack([encode(t.lower().split()) for t in texts[:500]])
test = torch.stack([encode(t.lower().split()) for t in texts[500:]])
y = torch.tensor(labels)
emb, fc = nn.Embedding(len(vocab), 16, padding_idx=0), nn.Linear(16, 2)
opt = torch.optim.Adam([*emb.parameters(), *fc.parameters()], 1e-2)
for epoch in range(5):
    for i in torch.randperm(500).split(25):
        loss = nn.functional.cross_entropy(fc(emb(train[i]).mean(1)), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        acc = (fc(emb(test).mean(1)).argmax(1) == y[500:]).float().mean().item()
    print(epoch, loss.item(), acc)
