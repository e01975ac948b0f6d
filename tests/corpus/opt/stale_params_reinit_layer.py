import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(4)


def xavier_(linear: nn.Linear, gain: float = 1.0):
    w = torch.empty(linear.out_features, linear.in_features)
    nn.init.xavier_uniform_(w, gain=gain)
    linear.weight = nn.Parameter(w)
    linear.bias = nn.Parameter(torch.zeros(linear.out_features))


class Tagger(nn.Module):
    def __init__(self, vocab=30, tags=5, dim=24):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.lstm = nn.LSTM(dim, dim, batch_first=True, bidirectional=True)
        self.proj = nn.Linear(2 * dim, tags)

    def forward(self, tokens):
        h, _ = self.lstm(self.embed(tokens))
        return self.proj(h)


def make_data(n=256, length=9):
    tokens = torch.randint(0, 30, (n, length))
    shifted = torch.roll(tokens, 1, dims=1)
    shifted[:, 0] = 0
    return tokens, (tokens + shifted) % 5


tokens, tags = make_data()
model = Tagger()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
xavier_(model.proj)

for epoch in range(6):
    perm = torch.randperm(len(tokens))
    for start in range(0, len(perm), 32):
        b = perm[start:start + 32]
        logits = model(tokens[b])
        loss = F.cross_entropy(logits.transpose(1, 2), tags[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"epoch {epoch:02d} | loss {loss.item():.6f}")
