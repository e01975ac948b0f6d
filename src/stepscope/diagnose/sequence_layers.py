"""Layers that read a sequence: which axis they take for time."""

from __future__ import annotations

from torch import nn

__all__ = ["SEQUENTIAL", "is_batch_first"]

SEQUENTIAL = (nn.RNNBase, nn.MultiheadAttention, nn.TransformerEncoderLayer, nn.TransformerDecoderLayer, nn.Transformer)


def is_batch_first(module: nn.Module) -> bool:
    """What the layer takes the first axis for."""
    if isinstance(module, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer):
        return bool(module.self_attn.batch_first)
    return bool(getattr(module, "batch_first", False))
