"""Perplexities in a column below the epoch."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
import math

enc, dec = nn.GRU(4, 8, batch_first=True), nn.Linear(8, 7)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], 0.01)
src, trg = torch.randn(24, 5, 4), torch.randint(0, 7, (24, 5))
for epoch in range(3):
    total = 0.0
    for i in range(0, 16, 4):
        out = dec(enc(src[i : i + 4])[0])
        loss = F.cross_entropy(out.flatten(0, 1), trg[i : i + 4].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    with torch.no_grad():
        valid = F.cross_entropy(dec(enc(src[16:])[0]).flatten(0, 1), trg[16:].flatten()).item()
    print(f"Epoch: {epoch + 1:02} | Time: {0}m {1}s")
    print(f"\tTrain Loss: {total / 4:.3f} | Train PPL: {math.exp(total / 4):7.3f}")
    print(f"\t Val. Loss: {valid:.3f} |  Val. PPL: {math.exp(valid):7.3f}")
