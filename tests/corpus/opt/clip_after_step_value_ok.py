"""Tiny seq2seq attention model trained to reverse its input."""
import math
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_

SYMBOLS, LENGTH, DIM = 10, 6, 32


class Reverser(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(SYMBOLS, DIM)
        self.place = nn.Embedding(LENGTH, DIM)
        self.queries = nn.Parameter(torch.randn(LENGTH, DIM) / math.sqrt(DIM))
        self.attn = nn.MultiheadAttention(DIM, 2, batch_first=True)
        self.out = nn.Linear(DIM, SYMBOLS)

    def forward(self, ids):
        memory = self.embed(ids) + self.place(torch.arange(LENGTH, device=ids.device))
        q = self.queries.expand(len(ids), -1, -1)
        h, _ = self.attn(q, memory, memory, need_weights=False)
        return self.out(h)


def main(steps=70, seed=5):
    torch.manual_seed(seed)
    net = Reverser()
    opt = torch.optim.AdamW(net.parameters(), lr=8e-3)
    ce = nn.CrossEntropyLoss()
    for step in range(1, steps + 1):
        ids = torch.randint(0, SYMBOLS, (40, LENGTH))
        loss = ce(net(ids).reshape(-1, SYMBOLS), ids.flip(1).reshape(-1))
        loss.backward()
        clip_grad_norm_(net.parameters(), 0.25)
        opt.step()
        opt.zero_grad()
        if step % 14 == 0:
            print(f"step {step:3d} ce {loss.item():.6f}")


if __name__ == "__main__":
    main()
