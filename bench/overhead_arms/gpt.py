"""A small GPT, written out, so that the bench needs nothing but torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F


@dataclass(frozen=True)
class Size:
    width: int
    layers: int
    heads: int
    vocabulary: int
    tokens: int
    batch: int


SIZES = {
    "cpu": Size(width=128, layers=4, heads=4, vocabulary=512, tokens=64, batch=8),
    "gpt2-small": Size(width=768, layers=12, heads=12, vocabulary=50257, tokens=1024, batch=8),
    "tiny": Size(width=32, layers=1, heads=2, vocabulary=64, tokens=16, batch=4),
}


class Block(nn.Module):
    def __init__(self, size: Size) -> None:
        super().__init__()
        self.heads = size.heads
        self.before_attention = nn.LayerNorm(size.width)
        self.attention = nn.Linear(size.width, 3 * size.width)
        self.out = nn.Linear(size.width, size.width)
        self.before_mlp = nn.LayerNorm(size.width)
        self.up = nn.Linear(size.width, 4 * size.width)
        self.down = nn.Linear(4 * size.width, size.width)

    def forward(self, x: Any) -> Any:
        batch, tokens, width = x.shape
        q, k, v = (
            part.view(batch, tokens, self.heads, width // self.heads).transpose(1, 2)
            for part in self.attention(self.before_attention(x)).split(width, dim=2)
        )
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, tokens, width))
        return x + self.down(F.gelu(self.up(self.before_mlp(x))))


class GPT(nn.Module):
    def __init__(self, size: Size) -> None:
        super().__init__()
        self.token = nn.Embedding(size.vocabulary, size.width)
        self.position = nn.Embedding(size.tokens, size.width)
        self.blocks = nn.ModuleList(Block(size) for _ in range(size.layers))
        self.norm = nn.LayerNorm(size.width)
        self.head = nn.Linear(size.width, size.vocabulary, bias=False)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)
        self.head.weight = self.token.weight

    def forward(self, ids: Any) -> Any:
        places = torch.arange(ids.shape[1], device=ids.device)
        x = self.token(ids) + self.position(places)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))
