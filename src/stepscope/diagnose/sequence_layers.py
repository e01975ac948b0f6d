"""Layers that read a sequence: which axis they take for time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import nn

if TYPE_CHECKING:
    from stepscope.evidence.modules import Module

__all__ = ["KINDS", "SEQUENTIAL", "is_batch_first", "reads_batch_first"]

SEQUENTIAL = (nn.RNNBase, nn.MultiheadAttention, nn.TransformerEncoderLayer, nn.TransformerDecoderLayer, nn.Transformer)

KINDS = ("RNNBase", "MultiheadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer", "Transformer")
"""Their names."""


def is_batch_first(module: nn.Module) -> bool:
    """What the layer takes the first axis for."""
    if isinstance(module, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer):
        return bool(module.self_attn.batch_first)
    return bool(getattr(module, "batch_first", False))


def reads_batch_first(module: Module) -> bool:
    """The same of the record of a layer."""
    if module.is_a("TransformerEncoderLayer", "TransformerDecoderLayer"):
        attention = module.children.get("self_attn")
        return attention is not None and bool(attention.attributes.get("batch_first"))
    return bool(module.attributes.get("batch_first"))
