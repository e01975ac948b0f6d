"""In which quarter of the trace does the marker precede the echo?  (transformer classifier)"""
import math

import torch
import torch.nn as nn


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=256):
        super().__init__()
        position = torch.arange(max_len).unsqueeze(1)
        div = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, d_model)
        pe[:, 0::2] = torch.sin(position * div)
        pe[:, 1::2] = torch.cos(position * div)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[:x.size(1)]


class MarkerClassifier(nn.Module):
    def __init__(self, vocab, d_model=32):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.pos = PositionalEncoding(d_model)
        layer = nn.TransformerEncoderLayer(d_model, 2, 64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1)
        self.fc = nn.Linear(d_model, 4)

    def forward(self, tokens):
        h = self.pos(self.embedding(tokens))
        return self.fc(self.encoder(h).mean(1))


def traces(n, length=16):
    x = torch.randint(1, 10, (n, length))
    where = torch.randint(0, length, (n,))
    x[torch.arange(n), where] = 0
    return x, where // 4


def main():
    torch.manual_seed(61)
    model = MarkerClassifier(10)
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for step in range(250):
        x, y = traces(64)
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 50 == 0:
            print(f"step {step} loss {loss.item():.4f}")
    model.eval()
    with torch.no_grad():
        x, y = traces(200)
        print("accuracy", (model(x).argmax(1) == y).float().mean().item())


if __name__ == "__main__":
    main()
