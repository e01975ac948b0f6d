"""A placeholder loss for a model whose own is unknown, so that backward can be inspected."""

from __future__ import annotations

from typing import Any

from stepscope.errors import UsageError


def stand_in_loss(output: Any) -> Any:
    """The output's own `.loss` if it has one, else the sum of the means of its tensors with a gradient."""
    import torch

    from stepscope.record.arguments import tensors_in

    own = getattr(output, "loss", None)
    if isinstance(own, torch.Tensor):
        return own
    found = [tensor for tensor in tensors_in(output) if tensor.requires_grad]
    if not found:
        raise UsageError(
            f"no tensor of the output ({type(output).__name__}) has a gradient, so there is no "
            "backward to inspect; are all parameters frozen?"
        )
    means = [(tensor.abs() if tensor.is_complex() else tensor).mean() for tensor in found]
    return sum(means[1:], means[0])
