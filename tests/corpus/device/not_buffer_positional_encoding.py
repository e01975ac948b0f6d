import math

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=50):
        super().__init__()
        pe = torch.zeros(max_len, d_model)
        position = torch.arange(0, max_len).unsqueeze(1).float()
        div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.pe = pe.unsqueeze(0)

    def forward(self, x):
        return x + self.pe[:, :x.size(1)]


class SortednessModel(nn.Module):
    def __init__(self, d_model=32):
        super().__init__()
        self.lift = nn.Linear(1, d_model)
        self.pos = PositionalEncoding(d_model)
        self.encoder = nn.TransformerEncoderLayer(d_model, nhead=4, dim_feedforward=64, dropout=0.1, batch_first=True)
        self.out = nn.Linear(d_model, 2)

    def forward(self, seq):
        x = self.pos(self.lift(seq.unsqueeze(-1)))
        return self.out(self.encoder(x).mean(1))


def make(n, length=8):
    x = torch.rand(n, length)
    up = torch.rand(n) < 0.5
    x = torch.where(up.unsqueeze(1), x.sort(1).values, x.sort(1, descending=True).values)
    return TensorDataset(x + 0.05 * torch.randn(n, length), up.long())


torch.manual_seed(10)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
train_dl = DataLoader(make(320), batch_size=32, shuffle=True)
valid_dl = DataLoader(make(80), batch_size=80)
model = SortednessModel().to(device)
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
loss_func = nn.CrossEntropyLoss()

for epoch in range(6):
    model.train()
    for xb, yb in train_dl:
        xb, yb = xb.to(device), yb.to(device)
        loss = loss_func(model(xb), yb)
        loss.backward()
        opt.step()
        opt.zero_grad()
    model.eval()
    with torch.no_grad():
        valid_loss = sum(loss_func(model(xb.to(device)), yb.to(device)).item() for xb, yb in valid_dl)
    print(epoch, f"{valid_loss / len(valid_dl):.6f}")
