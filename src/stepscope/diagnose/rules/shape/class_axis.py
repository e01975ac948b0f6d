from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.common.syntax import enclosing_function, statement_at
from stepscope.diagnose import edits
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.turning_point import turning_point
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.frame_values import HeldTensor
from stepscope.records.step import Site

_LOSSES = ("cross_entropy", "nll_loss", "cross_entropy_loss", "nll_loss_nd")


@rule("shape.class-axis", severity="error", needs="crash", follows=("dtype.*",))
def class_axis(run: Evidence) -> Iterator[Proof]:
    """A classification loss got scores or targets with their axes in the wrong place.

    Why it matters: `cross_entropy` wants scores `[batch, classes, ...]` and targets `[batch, ...]`: the classes on axis
    1, and no axis for them in the target.

    What to do: move the class axis: `logits.transpose(1, 2)`, or flatten both (`logits.flatten(0, 1)`,
    `target.flatten()`); take an extra axis of the target away: `target.squeeze(1)`.

    Bad:
        loss = F.cross_entropy(logits, tokens)                     # [2, 5, 100] and [2, 5]
    Good:
        loss = F.cross_entropy(logits.transpose(1, 2), tokens)
    """
    crash = run.crash
    if crash is None or crash.operation is None or not crash.is_a("RuntimeError", "ValueError"):
        return
    if not any(frame.function in _LOSSES for frame in crash.frames) and crash.operation.op not in _LOSSES:
        return
    pair = _scores_and_target(crash)
    if pair is None:
        return
    (name, scores), (other, target) = pair
    found = _turned(name, scores, other, target)
    if found is None:
        return
    message, fix, extra = found
    same = (target.dtype, target.ndim)
    made = turning_point(crash, target, lambda *one: one == same, "unsqueeze") if extra else None
    one_sample = made is not None and _makes_sample(made)
    yield Proof(
        where=made or crash.site,
        message=message,
        label=f"{name} {list(scores.shape)}, {other} {list(target.shape)}",
        evidence={name: list(scores.shape), other: list(target.shape)},
        edit=None if made is None else edits.append(made, f".squeeze({0 if one_sample else 1})"),
        fix=f"drop it here, where one sample is made: .squeeze(0); or pass {other}.squeeze(1)" if one_sample else fix,
        related=[] if made is None else [(crash.site, "it fails here")],
    )


def _makes_sample(site: Site) -> bool:
    """Whether a line of a dataset makes one sample, which has no batch axis yet."""
    statement = statement_at(site.file, site.line)
    function = None if statement is None else enclosing_function(site.file, statement)
    return isinstance(function, ast.FunctionDef) and function.name in ("__getitem__", "__iter__")


def _scores_and_target(crash: Crash) -> tuple[tuple[str, HeldTensor], tuple[str, HeldTensor]] | None:
    """With the names of the user's own line, where it has both."""
    tensors = crash.operands[:2]
    frame = crash.last
    if len(tensors) != 2 or frame is None:
        return None
    names = {id(value): name for name, value in frame.locals.items() if isinstance(value, HeldTensor)}
    first, second = ((names.get(id(tensor), name), tensor) for name, tensor in tensors)
    return first, second


def _turned(name: str, scores: HeldTensor, other: str, target: HeldTensor) -> tuple[str, str, bool] | None:
    """What is wrong, what to do, and whether it is the target that is wrong."""
    a, b = scores.shape, target.shape
    if target.is_floating:
        return None
    if len(a) >= 3 and len(b) == len(a) - 1 and a[:-1] == b and a[2:] != b[1:]:
        turn = f"{name}.transpose(1, 2)" if len(a) == 3 else f"{name}.movedim(-1, 1)"
        flat = f"{name}.flatten(0, {len(a) - 2}), {other}.flatten()"
        return (
            f"the classes are on the last axis of `{name}`; the loss expects them on axis 1",
            f"pass {turn}, or flatten both: {flat}",
            False,
        )
    if len(a) == 3 and b == a[:1]:
        return (
            f"`{name}` has scores for each of {a[1]} positions, and `{other}` has one label per sample",
            "keep one position per sample before the last layer: the last one, out[:, -1], or the mean, out.mean(1)",
            False,
        )
    if len(b) == len(a) and b[1] == 1 and b[:1] + b[2:] == a[:1] + a[2:]:
        return (
            f"`{other}` has an extra axis of size 1: class ids have no axis for the classes",
            f"pass {other}.squeeze(1)",
            True,
        )
    return None
