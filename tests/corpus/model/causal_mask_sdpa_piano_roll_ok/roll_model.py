from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class RollConfig:
    vocab: int = 16
    block: int = 24
    layers: int = 1
    heads: int = 2
    width: int = 32
    dropout: float = 0.0


class PastAttention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.heads = cfg.heads
        self.to_qkv = nn.Linear(cfg.width, 3 * cfg.width)
        self.merge = nn.Linear(cfg.width, cfg.width)
        self.dropout = cfg.dropout

    def forward(self, x):
        b, t, c = x.size()
        q, k, v = self.to_qkv(x).split(c, dim=2)
        q, k, v = (m.view(b, t, self.heads, c // self.heads).transpose(1, 2) for m in (q, k, v))
        p = self.dropout if self.training else 0.0
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=p, is_causal=True)
        return self.merge(y.transpose(1, 2).contiguous().view(b, t, c))


class Block(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.norm_a, self.norm_b = nn.LayerNorm(cfg.width), nn.LayerNorm(cfg.width)
        self.attn = PastAttention(cfg)
        self.mlp = nn.Sequential(nn.Linear(cfg.width, 4 * cfg.width), nn.GELU(), nn.Linear(4 * cfg.width, cfg.width))

    def forward(self, x):
        x = x + self.attn(self.norm_a(x))
        return x + self.mlp(self.norm_b(x))


class RollModel(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.notes = nn.Embedding(cfg.vocab, cfg.width)
        self.places = nn.Embedding(cfg.block, cfg.width)
        self.blocks = nn.ModuleList([Block(cfg) for _ in range(cfg.layers)])
        self.final_norm = nn.LayerNorm(cfg.width)
        self.to_note = nn.Linear(cfg.width, cfg.vocab, bias=False)
        self.to_note.weight = self.notes.weight
        nn.init.normal_(self.notes.weight, std=0.1)

    def forward(self, idx):
        x = self.notes(idx) + self.places(torch.arange(idx.size(1), device=idx.device))
        for block in self.blocks:
            x = block(x)
        return self.to_note(self.final_norm(x))
