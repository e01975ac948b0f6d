"""Families of operations: real names of torch, and families that keep apart what rules tell apart."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from stepscope.common import ops

OF_AUTOGRAD = {
    "alias", "convolution", "feature_dropout", "getitem", "index", "native_batch_norm", "native_dropout",
    "native_layer_norm", "reshape_alias", "to_copy", "unsafe_view", "where", "linalg_norm", "linalg_vector_norm",
    "vector_norm",
}  # fmt: skip
"""Names of autograd nodes and of operators, with no function of that name where the others are."""
PLACES = (torch, F, torch.Tensor, torch.nn.init, torch.linalg)


def is_torchs(name: str) -> bool:
    return name in OF_AUTOGRAD or any(hasattr(place, name) for place in PLACES)


@pytest.mark.parametrize("family", ops.__all__)
def test_every_name_is_one_of_torch(family: str) -> None:
    assert [name for name in getattr(ops, family) if not is_torchs(name)] == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("CASTS", "TRANSPOSES"),
        ("CASTS", "FLATTENINGS"),
        ("RESHAPES", "SELECTIONS"),
        ("VIEWS", "ELEMENTWISE"),
        ("VIEWS", "REDUCTIONS"),
        ("VIEWS", "PICKS"),
        ("FLOAT_CASTS", "INT_CASTS"),
        ("ELEMENTWISE", "LAYERS"),
        ("CONSTANTS", "NOISE"),
    ],
)
def test_families_that_share_nothing(one: str, other: str) -> None:
    assert not getattr(ops, one) & getattr(ops, other)


def test_wider_families_hold_narrower_ones() -> None:
    assert ops.CASTS < ops.RESHAPES < ops.VIEWS
    assert ops.ARITHMETIC < ops.ELEMENTWISE
    assert ops.MATMULS < ops.CONTRACTIONS < ops.LAYERS
