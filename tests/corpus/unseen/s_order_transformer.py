import math

import torch
import torch.nn as nn

torch.manual_seed(0)
SEQ, VOCAB = 12, 10


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=128):
        super().__init__()
        pos = torch.arange(max_len).unsqueeze(1)
        div = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, d_model)
        pe[:, 0::2] = torch.sin(pos * div)
        pe[:, 1::2] = torch.cos(pos * div)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[:x.size(0)].unsqueeze(1)


class Model(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, d)
        self.pos = PositionalEncoding(d)
        layer = nn.TransformerEncoderLayer(d, 4, 64, dropout=0.0, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.fc = nn.Linear(d, VOCAB)

    def forward(self, tokens):
        return self.fc(self.enc(self.pos(self.emb(tokens) * 2)))


def batch(n):
    x = torch.randint(0, VOCAB, (n, SEQ))
    return x, x.flip(1)


model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
criterion = nn.CrossEntropyLoss()
for step in range(250):
    x, y = batch(48)
    loss = criterion(model(x).transpose(1, 2), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print(f"step {step}: loss {loss.item():.4f}")
model.eval()
with torch.no_grad():
    x, y = batch(100)
    print("token accuracy", (model(x).argmax(-1) == y).float().mean().item())
