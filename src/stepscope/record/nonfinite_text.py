"""The origin of a NaN or Inf, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.records.finite import said_of

if TYPE_CHECKING:
    from stepscope.record.nonfinite import Birth
    from stepscope.records.step import Stats, TensorInfo


def describe(birth: Birth) -> str:
    """Where it was born, what was read there, and where it got to."""
    lines = [_headline(birth)]
    site = birth.site
    if site is not None:
        where = f"  at {site.file}:{site.line}"
        lines.append(where + (f" in {site.function}" if site.function else ""))
        if site.text:
            lines.append(f"      {site.text}")
    if birth.kind in ("input", "parameter", "buffer", "state"):
        lines.append(f"  it held {said_of(birth.stats)}")
    else:
        lines += [f"  read  {_named(tensor)}: {said_of(stats)}" for tensor, stats in birth.inputs]
        lines.append(f"  made  {_named(birth.tensor)}: {said_of(birth.stats)}")
    lines.append(f"  it reaches {birth.reaches}" if birth.reaches else "  it reaches neither the loss nor a gradient")
    return "\n".join(lines)


def _headline(birth: Birth) -> str:
    what = _what(birth.stats)
    inside = f" in {birth.module}" if birth.module else " in the model" if birth.module == "" else ""
    if birth.kind == "input":
        verb = "brought it" if not birth.op.inputs else "is the first to read it"
        return f"{what} came in with the data: {birth.op.name} (op {birth.op.index}){inside} {verb}"
    if birth.kind in ("parameter", "buffer", "state"):
        kind = "optimizer state" if birth.kind == "state" else birth.kind
        name = birth.tensor.name if birth.tensor is not None and birth.tensor.name else "without a name"
        return f"{what} in the {kind} {name}, before the step; first read by {birth.op.name} (op {birth.op.index})"
    if birth.forward is not None:
        forward = birth.forward
        return f"{what} born in the backward of {forward.name} (op {forward.index}){inside}: {birth.op.name}"
    parts = {"loss": "the loss code: ", "backward": "the backward code: ", "optimizer": "the optimizer: "}
    part = parts.get(birth.kind, "")
    return f"{what} born in {part}{birth.op.name} (op {birth.op.index}){inside}"


def _what(stats: Stats | None) -> str:
    if stats is None or (stats.nan and (stats.pos_inf or stats.neg_inf)):
        return "NaN and Inf"
    if stats.nan:
        return "NaN"
    return "Inf" if stats.pos_inf else "-Inf"


def _named(tensor: TensorInfo | None) -> str:
    if tensor is None:
        return "a tensor"
    shape = "x".join(str(size) for size in tensor.shape) or "scalar"
    return f"{tensor.name or tensor.kind} ({shape} {tensor.dtype})"
