"""Layers that read a sequence: which axis they take for time."""

from __future__ import annotations

from stepscope.evidence.modules import Module

KINDS = ("RNNBase", "MultiheadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer", "Transformer")


def reads_batch_first(module: Module) -> bool:
    """What the layer takes the first axis for."""
    if module.is_a("TransformerEncoderLayer", "TransformerDecoderLayer"):
        attention = module.children.get("self_attn")
        return attention is not None and bool(attention.attributes.get("batch_first"))
    return bool(module.attributes.get("batch_first"))
