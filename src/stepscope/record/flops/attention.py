"""Attention: the two products, and the projections where an op holds them.

A causal or masked attention counts in full, as in the usual formula 4 * L * S * E per head, so that the number is the
same whichever kernel runs and however the mask is written.
"""

from __future__ import annotations

import math
from typing import Any

from stepscope.record.flops.registry import Called, Work, formula

__all__: list[str] = []


def _pairs(query: Any, key: Any, value: Any) -> int:
    """Multiply-accumulates of `query @ key.T` and of `weights @ value`; grouped heads are shared, not spared."""
    batch = math.prod(query.shape[:-2])
    return int(batch * query.shape[-2] * key.shape[-2] * (query.shape[-1] + value.shape[-1]))


@formula("scaled_dot_product_attention", "_scaled_dot_product_flash_attention",
         "_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_efficient_attention",
         "_scaled_dot_product_cudnn_attention", "_scaled_dot_product_attention_math",
         "_scaled_dot_product_fused_attention_overrideable", "flex_attention")  # fmt: skip
def scaled_dot_product_attention(called: Called) -> Work:
    query, key, value = called.get(0, "query"), called.get(1, "key"), called.get(2, "value")
    macs = _pairs(query, key, value)
    # Backward: the weights' gradient and the query's and key's from it, and the value's: four products for two.
    needing = sum(1 for operand in (query, key, value) if operand.requires_grad)
    return Work(2 * macs, macs, 4 * macs * needing // 3)


@formula(*(f"_scaled_dot_product_{kind}_attention_backward" for kind in ("flash", "efficient", "cudnn")),
         "_scaled_dot_product_flash_attention_for_cpu_backward")  # fmt: skip
def attention_backward(called: Called) -> Work:
    """The weights are computed again, and four products follow."""
    query, key, value = called.args[1:4]
    macs = _pairs(query, key, value)
    again = math.prod(query.shape[:-1]) * key.shape[-2] * query.shape[-1]
    return Work(4 * macs + 2 * again, 2 * macs + again, None)


@formula("multi_head_attention_forward")
def multi_head_attention(called: Called) -> Work | None:
    """The projections of query, key and value, the attention, and the projection of the result."""
    query, key, value = called.get(0, "query"), called.get(1, "key"), called.get(2, "value")
    width, out_weight = called.get(3, "embed_dim_to_check"), called.get(11, "out_proj_weight")
    weights: list[Any] = [called.kwargs.get(f"{which}_proj_weight") for which in ("q", "k", "v")]
    if not called.kwargs.get("use_separate_proj_weight", False):
        weights = list(called.get(5, "in_proj_weight").chunk(3))
    rows = [math.prod(tensor.shape[:-1]) for tensor in (query, key, value)]
    projections = macs = sum(row * weight.numel() for row, weight in zip(rows, weights, strict=True))
    extra = int(called.get(7, "bias_k") is not None) + int(bool(called.get(9, "add_zero_attn", False)))
    batch = query.shape[1] if query.dim() == 3 else 1  # length first, as this function takes them
    macs += batch * query.shape[0] * (key.shape[0] + extra) * 2 * width
    macs += rows[0] * out_weight.numel()
    if not out_weight.requires_grad and not query.requires_grad:
        return Work(2 * macs, macs, 0)
    return Work(2 * macs, macs, 4 * macs - (0 if query.requires_grad else 2 * projections))


@formula("_native_multi_head_attention")
def native_multi_head_attention(called: Called) -> Work:
    """The fused kernel for inference: (query, key, value, embed_dim, heads, qkv_weight, qkv_bias, out_weight, ...)."""
    query, key = called.args[0], called.args[1]
    qkv, out = called.args[5], called.args[7]
    batch, length, width = query.shape
    macs = batch * length * (qkv.numel() + out.numel()) + batch * length * key.shape[1] * 2 * width
    return Work(2 * macs, macs, None)


@formula("_transformer_encoder_layer_fwd")
def encoder_layer(called: Called) -> Work:
    """The fused encoder layer for inference: attention and the two linear layers (norms are not counted)."""
    x = called.args[0]
    batch, length, width = x.shape
    weights = [value for value in called.args[1:] if getattr(value, "ndim", 0) == 2 and value.shape != x.shape[:2]]
    macs = batch * length * sum(weight.numel() for weight in weights) + batch * length * length * 2 * width
    return Work(2 * macs, macs, None)
