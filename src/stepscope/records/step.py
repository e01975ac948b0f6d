"""The recorded step: every operation of one training iteration, as plain data that can be read without torch.

Tensors are identified by object: `TensorInfo.id` is the same wherever the same tensor object appears, so edges are
exact. An in-place write gives the tensor a new *version*; an edge runs from the op that produced (id, version) to the
op that reads it. Views share a `storage` with their base.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

__all__ = [
    "STEP_FORMAT",
    "Cost",
    "ModuleCall",
    "ModuleInfo",
    "Op",
    "Phase",
    "Site",
    "Stats",
    "StepRecord",
    "TensorInfo",
    "TensorRef",
    "Unseen",
]

STEP_FORMAT = 1

Phase = Literal["setup", "forward", "loss", "backward", "optimizer", "other"]
"""setup: before the root module is called · forward: inside it · loss: after it, before backward ·
backward · optimizer: inside an optimizer's step · other: zero_grad, clipping, metrics, anything else."""


class Site(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A location in the user's source. Columns point at the sub-expression if Python provides it (3.11 and later)."""

    file: str
    line: int
    function: str = ""
    end_line: int | None = None
    column: int | None = None
    end_column: int | None = None
    text: str = ""
    """The source line, stripped, when recorded."""


class Stats(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Statistics of a tensor. Minimum, maximum, mean, std and norm are over its finite values."""

    numel: int
    nan: int = 0
    pos_inf: int = 0
    neg_inf: int = 0
    zeros: int = 0
    min: float | None = None
    max: float | None = None
    mean: float | None = None
    std: float | None = None
    norm: float | None = None
    counted: bool = True
    """False: only sampled, so the counts of NaN and Inf mean "at least"."""


class TensorInfo(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One tensor object, as first seen."""

    id: int
    shape: tuple[int, ...]
    dtype: str
    """float32, int64, bfloat16 ... without the `torch.`"""
    device: str
    kind: Literal["parameter", "buffer", "input", "intermediate", "gradient", "constant", "state"] = "intermediate"
    """input: came from outside the step (data, targets) · constant: made by the user's code from no tensor ·
    gradient: a grad of something · state: optimizer state."""
    name: str | None = None
    """The qualified name of a parameter or buffer (the first one, if it is shared)."""
    aliases: tuple[str, ...] = ()
    """The other names of a shared (tied) parameter."""
    requires_grad: bool = False
    strides: tuple[int, ...] | None = None
    """Only when not contiguous."""
    layout: str = "strided"
    storage: int = 0
    """Tensors that share memory share this number."""
    view_of: int | None = None
    grad_of: int | None = None
    bytes: int = 0
    site: int | None = None
    """Where it was created: an index into `StepRecord.sites`."""


class TensorRef(msgspec.Struct, frozen=True, array_like=True):
    """A tensor at one version, as an op read or wrote it."""

    id: int
    version: int = 0


class Cost(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    host_us: float | None = None
    """Time inside this op on the host, without recorded ops inside it."""
    device_us: float | None = None
    """Time on the accelerator, by events; None on a CPU."""
    flops: int | None = None
    """None: no formula for this op (listed in the table's footnote, never counted as zero)."""
    macs: int | None = None
    saved_bytes: int = 0
    """Saved for backward by this op, each storage counted once per step; without parameters."""


class Op(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    index: int
    name: str
    """The function the user's code (or a module) called: `linear`, `add_`, `scaled_dot_product_attention`; for backward
    the autograd node: `AddmmBackward0`; at depth "aten" the operator (`aten.mm.default`), at "modules" the class."""
    phase: Phase
    module: str | None = None
    """Qualified path of the innermost module being run; "" is the root, None outside any module."""
    call: int = 0
    """Which call of that module (0 for the first): distinguishes repeated calls and shared modules."""
    site: int | None = None
    args: dict[str, Any] = {}
    """Non-tensor arguments, JSON-ready; tensors inside appear as `{"tensor": id}`."""
    inputs: tuple[TensorRef, ...] = ()
    outputs: tuple[TensorRef, ...] = ()
    inplace: bool = False
    view: bool = False
    forward: int | None = None
    """For a backward op: the index of the forward op it differentiates."""
    backward: tuple[str, ...] = ()
    """For a forward op: the names of the autograd nodes it made."""
    cost: Cost = Cost()
    input_stats: tuple[Stats | None, ...] | None = None
    output_stats: tuple[Stats | None, ...] | None = None
    error: str | None = None
    """The exception, if the op raised."""


class ModuleInfo(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One module object of the model."""

    path: str
    type: str
    aliases: tuple[str, ...] = ()
    """Other paths of the same object (a shared module)."""
    parameters: int = 0
    """Own parameters only, each shared one counted at its first occurrence."""
    trainable: int = 0
    parameter_bytes: int = 0
    buffers: int = 0
    buffer_bytes: int = 0
    extra: str = ""
    """`extra_repr()`: in_features=784, ..."""
    site: int | None = None
    """Where it was constructed."""
    root: str = ""
    """The path of its tree: "" is the model; a module beside it (a loss) is a separate tree."""
    structure: str = ""
    """A hash of type, arguments and children, without names: equal blocks have equal hashes."""
    training: bool = True


class ModuleCall(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One run of a module's forward."""

    path: str
    call: int
    parent: int | None = None
    """Index of the enclosing ModuleCall."""
    first_op: int = 0
    last_op: int = -1
    """Ops of this call are first_op..last_op, children included; last < first if it ran none."""
    inputs: tuple[TensorRef, ...] = ()
    outputs: tuple[TensorRef, ...] = ()
    host_us: float | None = None
    device_us: float | None = None
    recomputed: bool = False
    """Rerun during backward by activation checkpointing."""
    error: str | None = None


class Unseen(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the recording is known to have missed, in words."""

    what: str
    """scripted, compiled, vmap, custom autograd backward, another thread ..."""
    where: str = ""
    count: int = 1


class StepRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    format: int = STEP_FORMAT
    depth: Literal["modules", "ops", "aten"] = "ops"
    started: float = 0.0
    """Unix seconds."""
    wall_us: float = 0.0
    model: str = ""
    """The class of the root module, or "" for code without one."""
    torch: str = ""
    device: str = "cpu"
    ops: tuple[Op, ...] = ()
    tensors: tuple[TensorInfo, ...] = ()
    modules: tuple[ModuleInfo, ...] = ()
    calls: tuple[ModuleCall, ...] = ()
    sites: tuple[Site, ...] = ()
    loss: TensorRef | None = None
    """The tensor `backward()` was called on, if it was."""
    unseen: tuple[Unseen, ...] = ()
    error: str | None = None
    notes: dict[str, Any] = {}
