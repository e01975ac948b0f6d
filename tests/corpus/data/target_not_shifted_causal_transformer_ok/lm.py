import torch
from torch import nn


class TinyLM(nn.Module):
    def __init__(self, vocab, max_len, dim=32):
        super().__init__()
        self.tokens = nn.Embedding(vocab, dim)
        self.positions = nn.Embedding(max_len, dim)
        layer = nn.TransformerEncoderLayer(dim, nhead=4, dim_feedforward=64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2)
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        t = ids.size(1)
        pos = torch.arange(t, device=ids.device)
        mask = torch.triu(torch.full((t, t), float("-inf"), device=ids.device), diagonal=1)
        h = self.encoder(self.tokens(ids) + self.positions(pos), mask=mask)
        return self.head(h)
