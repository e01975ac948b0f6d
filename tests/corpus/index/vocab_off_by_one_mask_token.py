from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Args:
    vocab: int = 20
    length: int = 12
    dim: int = 32
    mask_prob: float = 0.2
    steps: int = 60
    lr: float = 5e-3


class MaskedLM(nn.Module):
    def __init__(self, a: Args):
        super().__init__()
        self.emb = nn.Embedding(a.vocab, a.dim)
        self.pos = nn.Parameter(0.02 * torch.randn(1, a.length, a.dim))
        self.enc = nn.TransformerEncoderLayer(a.dim, 4, 64, dropout=0.0, batch_first=True)
        self.out = nn.Linear(a.dim, a.vocab)

    def forward(self, ids):
        return self.out(self.enc(self.emb(ids) + self.pos))


def sample_batch(a: Args, n: int, gen):
    start = torch.randint(0, a.vocab, (n, 1), generator=gen)
    return (start + torch.arange(a.length)) % a.vocab


def mask_tokens(ids, a: Args, gen):
    chosen = torch.rand(ids.shape, generator=gen) < a.mask_prob
    labels = torch.where(chosen, ids, torch.full_like(ids, -100))
    mask_id = a.vocab
    return torch.where(chosen, torch.full_like(ids, mask_id), ids), labels


def train(a: Args):
    torch.manual_seed(50)
    gen = torch.Generator().manual_seed(50)
    model = MaskedLM(a)
    opt = torch.optim.AdamW(model.parameters(), lr=a.lr)
    for step in range(a.steps):
        ids = sample_batch(a, 32, gen)
        inputs, labels = mask_tokens(ids, a, gen)
        logits = model(inputs)
        loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 15 == 0:
            print(f"step {step:3d} mlm loss {loss.item():.6f}")


if __name__ == "__main__":
    train(Args())
