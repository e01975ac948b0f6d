"""Which of the ways in which sizes go wrong this crash is. Each crash is one of them, so that one rule speaks.

The kinds are the last part of the rules' ids: `linear-in`, `flatten`, `concat-channels`, `last-batch` ...
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import prod
from typing import Any

from stepscope.common.ops import FLATTENINGS
from stepscope.diagnose.crash.batches import numbers_in, small_batch
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.layer_states import hidden_states
from stepscope.diagnose.crash.layers import Expectation, Layer, expectation_of
from stepscope.diagnose.crash.op_chain import CONCAT, PLAIN, Link, mainline
from stepscope.diagnose.crash.position_table import short_table
from stepscope.diagnose.crash.recurrent import turned_recurrent
from stepscope.diagnose.crash.uneven_view import uneven
from stepscope.diagnose.crash.unpacking import wrong_splits
from stepscope.evidence.frame_values import HeldTensor

_SIGNS = (
    r"shapes? cannot be multiplied",
    r"size mismatch",
    r"must match|must be the same",
    r"channels",
    r"invalid for input of size",
    r"view size is not compatible",
    r"batch_size|batch number of src and tgt",
    r"key_padd(ed|ing)_mask",
    r"sizes? of tensors?",
    r"different to the input size",
    r"different from the input size",
    r"is not equal to",
    r"expected hidden",
    r"input\.size\(-1\)",
    r"expected (\d-?d|3d|4d|2d).*(input|tensor)",
    r"expected stride|given normalized_shape|given weight of size|given groups",
    r"output size is too small|can't be greater than actual input|output size.*too small",
    r"inconsistent tensor size|expected tensor to have size|broadcast",
    r"stack expects each tensor|resize storage that is not resizable",
    r"mat1 and mat2|vec and|1d tensors expected|batch1|batch2",
    r"running_mean should contain|weight to be a vector",
    r"shape mismatch|shapes? .*not|the expanded size|expected.*dimension|not aligned",
    r"embed_dim|embedding dim|feature number of src",
)
_CONVOLUTIONS = ("Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d")
_CHANNELS = frozenset({1, 2, 3, 4})


@dataclass(frozen=True)
class SizeFault:
    """A mismatch of sizes, and what it is."""

    kind: str
    layer: Layer | None = None
    expected: Expectation | None = None
    given: int = 0
    tensor: HeldTensor | None = None
    link: Link | None = None
    """The op on the way that matters: the flattening, the concatenation."""
    facts: dict[str, Any] = field(default_factory=dict)


def size_fault(crash: Crash) -> SizeFault | None:
    """The mismatch; None when the crash is about something else."""
    known: SizeFault | None = crash.__dict__.get("_size_fault")
    if known is None:
        known = crash.__dict__["_size_fault"] = _decide(crash) or SizeFault("")
    return known if known.kind else None


def _decide(crash: Crash) -> SizeFault | None:
    if not crash.is_a("RuntimeError", "ValueError", "IndexError", "AssertionError") or not crash.says(*_SIGNS):
        return None
    if crash.says(r"dtype|datatype|scalar type|input type \("):
        return None
    if crash.says(r"einsum\(\)"):
        return None
    if crash.says(r"stack expects each tensor") or (
        crash.says(r"resize storage that is not resizable") and "collate" in crash.text
    ):
        return _of_samples(crash)
    if wrong_splits(crash):
        return None
    small = small_batch(crash)
    if small is not None:
        return SizeFault("last-batch", facts={"small": small})
    if short_table(crash) is not None:
        return SizeFault("too-long")
    turned = turned_recurrent(crash)
    if turned is not None:
        return SizeFault("rnn-batch-first", facts={"turned": turned})
    states = hidden_states(crash)
    if states is not None:
        return SizeFault("hidden-state", facts={"states": states})
    return _of_layer(crash) or _of_view(crash) or _of_maps(crash) or _of_operands(crash)


def _of_layer(crash: Crash) -> SizeFault | None:
    """A layer of torch's that insists on another size than it was given."""
    for layer in reversed(crash.layers):
        expected = expectation_of(layer.module)
        tensor = layer.input
        if expected is None or tensor is None:
            continue
        given = expected.given(tensor)
        if given is None or given == expected.size:
            continue
        kind, link = _kind(crash, layer, expected, tensor, given)
        return SizeFault(kind, layer, expected, given, tensor, link)
    return None


def _kind(crash: Crash, layer: Layer, expected: Expectation, tensor: HeldTensor, given: int) -> tuple[str, Link | None]:
    for link in mainline(tensor):
        if link.op in CONCAT:
            return "concat-channels", link
        if link.op in FLATTENINGS and layer.module.is_a("Linear"):
            if link.before is not None and len(link.before) >= 3 and len(link.before) > tensor.ndim:
                return "flatten", link
            if link.before is None and tensor.ndim == 2:
                return "flatten", link
            continue
        if link.op not in PLAIN:
            break
    if layer.module.is_a("Linear") and tensor.ndim >= 3 and prod(tensor.shape[1:]) == expected.size:
        return "flatten", None
    pictures = layer.module.is_a(*_CONVOLUTIONS) and tensor.ndim >= 3
    few = given in _CHANNELS and expected.size in _CHANNELS
    if pictures and few and _is_first(tensor) and _worked_before(crash, layer):
        return "grey-rgb", None
    return "linear-in", None


def is_odd_batch(layer: Layer, tensor: HeldTensor) -> bool:
    """Whether the layer is fed with data and has been trained before: then it is this batch that differs."""
    weight = layer.weight
    if weight is None or not _is_first(tensor):
        return False
    known = layer.module.own.get("weight")
    return weight.has_grad or (known is not None and known.gradients > 0)


def _is_first(tensor: HeldTensor) -> bool:
    """Whether the tensor is data, touched by no layer."""
    return not tensor.has_graph and not tensor.requires_grad


def _worked_before(crash: Crash, layer: Layer) -> bool:
    """Whether this layer has already taken something: then the data is at fault, not the layer."""
    if crash.calls_done > 0:
        return True
    weight = layer.weight
    # Making a layer writes its weight once or twice; each optimizer step writes it again.
    return weight is not None and (weight.has_grad or weight.version > 2)


def _of_view(crash: Crash) -> SizeFault | None:
    """A `view` or `reshape` whose numbers do not multiply to what is there."""
    found = crash.operation
    if (
        found is None
        or found.op not in FLATTENINGS
        or not found.tensors
        or not crash.says(r"invalid for input of size")
    ):
        return None
    tensor = found.tensors[0][1]
    pieces = uneven(crash)
    if pieces is not None:
        return SizeFault("uneven-view", tensor=tensor, facts={"uneven": pieces})
    inside = crash.last is not None and crash.last.module is not None
    if tensor.ndim >= 3 or inside:
        return SizeFault("flatten", tensor=tensor, facts={"view": True})
    return None


def _of_maps(crash: Crash) -> SizeFault | None:
    """Maps whose height or width differ, or that became smaller than the kernel."""
    if crash.says(r"output size is too small", r"can't be greater than actual input", r"output size.*too small"):
        return SizeFault("conv-output", layer=crash.layer, tensor=None if crash.layer is None else crash.layer.input)
    pair = _pair(crash, maps=True)
    if pair is None:
        return None
    first, second = pair
    differ = first.ndim >= 3 and first.ndim == second.ndim and first.shape[2:] != second.shape[2:]
    if differ and any(map(_is_map, pair)):
        return SizeFault("conv-output", tensor=first, facts={"pair": pair})
    return None


def _is_map(tensor: HeldTensor) -> bool:
    return any("conv" in link.op or "pool" in link.op for link in mainline(tensor))


def _pair(crash: Crash, maps: bool = False) -> tuple[HeldTensor, HeldTensor] | None:
    """The two tensors that do not fit each other; of maps, two that differ in height or width."""
    tensors = [tensor for _, tensor in crash.operands]
    for index, second in enumerate(tensors[1:], 1):
        for first in tensors[:index]:
            differ = first.shape[2:] != second.shape[2:] if maps else first.shape != second.shape
            if first.ndim and second.ndim and differ:
                return first, second
    product = crash.operation is not None and crash.operation.op in ("matmul", "mm", "bmm", "linear")
    return (tensors[0], tensors[1]) if product and len(tensors) == 2 and not maps else None


def _of_operands(crash: Crash) -> SizeFault | None:
    """Two tensors of different sizes in one operation of the user's."""
    pair = _pair(crash)
    numbers = numbers_in(crash.message)
    if crash.says(r"batch_size") and len(numbers) >= 2:
        flattened = _wrong_rows(crash, pair)
        if flattened is not None:
            return flattened
    inside = crash.layer is not None and expectation_of(crash.layer.module) is not None
    if pair is None or inside:
        return None
    output = _wrong_width(crash, pair)
    return output or SizeFault("broadcast-crash", tensor=pair[0], facts={"pair": pair})


def _wrong_rows(crash: Crash, pair: tuple[HeldTensor, HeldTensor] | None) -> SizeFault | None:
    """A `view(-1, number)` with the wrong number moved values into other rows: the batch has another size after it."""
    if pair is None:
        return None
    rows = pair[1].shape[0]
    for link in mainline(pair[0]):
        if link.op in FLATTENINGS and link.before and link.before[0] == rows and link.shape and link.shape[0] != rows:
            return SizeFault("flatten", tensor=pair[0], link=link, facts={"rows": rows, "got": link.shape[0]})
    return None


def _wrong_width(crash: Crash, pair: tuple[HeldTensor, HeldTensor]) -> SizeFault | None:
    """A model's output whose width is not the target's: its last layer was built with another number."""
    for made, other in (pair, pair[::-1]):
        if made.ndim < 2 or made.ndim != other.ndim or made.shape[0] != other.shape[0] or not made.requires_grad:
            continue
        if made.shape[-1] == other.shape[-1] or other.requires_grad or 1 in (made.shape[-1], other.shape[-1]):
            continue
        return SizeFault("linear-in", tensor=made, given=made.shape[-1], facts={"target": other})
    return None


def _of_samples(crash: Crash) -> SizeFault | None:
    """Samples of different shapes that were to become one batch."""
    samples = _samples(crash)
    shapes = [sample.shape for sample in samples]
    if not shapes:
        found = [tuple(int(n) for n in part.split(",") if n.strip()) for part in _brackets(crash.message)]
        shapes = found[:2]
    grey = (
        len(shapes) > 1 and all(len(s) == 3 and s[0] in _CHANNELS for s in shapes) and len({s[1:] for s in shapes}) == 1
    )
    inside = any("collate" in frame.file or "fetch" in frame.file for frame in crash.frames) or bool(crash.worker)
    if not inside:
        return SizeFault("broadcast-crash", facts={"shapes": shapes})
    return SizeFault("grey-rgb" if grey else "collate-ragged", facts={"shapes": shapes})


def _samples(crash: Crash) -> list[HeldTensor]:
    found = crash.operation
    return [] if found is None else [tensor for operand in found.operands for tensor in operand.tensors]


def _brackets(text: str) -> list[str]:
    return re.findall(r"\[([\d, ]*)\]", text)
