"""Synthetic sentences: three free words, then count upwards by a hidden stride, modulo the vocabulary."""
import torch

VOCAB = 17


def counting_sequences(n, seed, length=18):
    gen = torch.Generator().manual_seed(seed)
    prefix = torch.randint(0, VOCAB, (n, 3), generator=gen)
    stride = torch.randint(1, 5, (n, 1), generator=gen)
    return torch.cat([prefix, (prefix[:, -1:] + stride * torch.arange(1, length)) % VOCAB], dim=1)
