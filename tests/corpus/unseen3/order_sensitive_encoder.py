import math
import torch
import torch.nn as nn

torch.manual_seed(21)


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=500):
        super().__init__()
        position = torch.arange(max_len).unsqueeze(1)
        div = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, 1, d_model)
        pe[:, 0, 0::2] = torch.sin(position * div)
        pe[:, 0, 1::2] = torch.cos(position * div)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[:x.size(0)]


class FirstBeforeSecond(nn.Module):
    """Which of two marker tokens came first in the log?"""

    def __init__(self, vocab=30, d_model=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, d_model)
        self.pos = PositionalEncoding(d_model)
        layer = nn.TransformerEncoderLayer(d_model, 4, dim_feedforward=64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.fc = nn.Linear(d_model, 1)

    def forward(self, tokens):
        h = self.encoder(self.pos(self.embed(tokens) * 2.0))
        return self.fc(h.mean(dim=1)).squeeze(-1)


def event_logs(n, length=12):
    tokens = torch.randint(2, 30, (n, length))
    spots = torch.stack([torch.randperm(length)[:2] for _ in range(n)])
    rows = torch.arange(n)
    tokens[rows, spots[:, 0]] = 0
    tokens[rows, spots[:, 1]] = 1
    return tokens, (spots[:, 0] < spots[:, 1]).float()


model = FirstBeforeSecond()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
bce = nn.BCEWithLogitsLoss()
for step in range(150):
    tokens, label = event_logs(64)
    loss = bce(model(tokens), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if (step + 1) % 50 == 0:
        print(f"step {step + 1}: loss {loss.item():.4f}")

model.eval()
with torch.no_grad():
    tokens, label = event_logs(400)
    acc = ((model(tokens) > 0) == label.bool()).float().mean()
print(f"accuracy on held-out logs: {acc:.3f}")
