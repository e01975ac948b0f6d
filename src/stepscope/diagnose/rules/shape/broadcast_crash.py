from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from stepscope.diagnose import edits
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.fitting_axes import index_for, is_elementwise, met_from_the_right
from stepscope.diagnose.crash.joined import Joined, wrong_axis
from stepscope.diagnose.crash.proved import repairs_of, tried_or
from stepscope.diagnose.crash.provenance import made_at, made_by
from stepscope.diagnose.crash.sizes import size_fault
from stepscope.diagnose.crash.value_origin import given_by_function
from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.frame_values import HeldTensor

_HF = "Transformers"
_FEW_JOINED = 4


@rule("shape.broadcast-crash", severity="error", needs="crash", follows=("loss.class-weights", "shape.assigned-part"))
def broadcast_crash(run: Evidence) -> Iterator[Proof]:
    """Two tensors of different shapes meet in an operation that needs them to fit.

    Why it matters: the operation stops. Often one of them only lacks, or has too much of, an axis of size 1.

    What to do: bring both to one shape before the operation: `squeeze`, `unsqueeze`, `transpose`.

    Bad:
        loss = F.binary_cross_entropy(model(x), y)                 # [8, 1] and [8]
    Good:
        loss = F.binary_cross_entropy(model(x).squeeze(1), y)
    """
    crash = run.crash
    fault = None if crash is None else size_fault(crash)
    if crash is None or fault is None or fault.kind != "broadcast-crash":
        return
    pair = fault.facts.get("pair")
    found = crash.operation
    if pair is None:
        shapes = [list(shape) for shape in fault.facts.get("shapes", [])][:4]
        where = given_by_function(crash) or crash.site
        yield Proof(
            where=where,
            message="tensors of different shapes cannot be stacked",
            label="not all of the same shape",
            evidence={"shapes": shapes},
            fix="bring them to one shape first (pad or cut), or leave out the ones that are too short",
            related=[(crash.site, "they are stacked here")] if where is not crash.site else [],
        )
        return
    joined = wrong_axis(crash)
    if joined is not None:
        yield _along(crash, joined)
        return
    names = {id(tensor): name for name, tensor in crash.operands}
    first, second = pair
    if found is not None and is_elementwise(found.op):
        lacking = _lacks_axes(crash, names[id(first)], first, names[id(second)], second)
        if lacking is not None:
            yield lacking
            return
    op = "this operation" if found is None else f"`{found.op}`"
    classes = _for_classes(run, op, first, second)
    if classes is not None:
        yield Proof(
            where=crash.site,
            message=f"binary cross entropy compares one score with one label, and the model gives {first.shape[1]} "
            "scores per sample for one label",
            label=f"{names[id(first)]} {list(first.shape)}, {names[id(second)]} {list(second.shape)}",
            evidence={names[id(first)]: list(first.shape), names[id(second)]: list(second.shape)},
            fix=classes,
        )
        return
    squeezed = _squeezed(crash.site, names[id(first)], first, names[id(second)], second)
    longer = _one_longer(crash, names, first, second)
    if longer is not None:
        yield longer
        return
    yield Proof(
        where=crash.site,
        message=f"{op} needs shapes that fit, and {list(first.shape)} and {list(second.shape)} do not",
        label=f"{names[id(first)]} {list(first.shape)}, {names[id(second)]} {list(second.shape)}",
        evidence={names[id(first)]: list(first.shape), names[id(second)]: list(second.shape)},
        edit=squeezed,
        fix=tried_or(
            repairs_of(run) if squeezed is None else [],
            _product(op, names[id(first)], first, names[id(second)], second)
            or _mend(names[id(first)], first, names[id(second)], second)
            or "bring both to one shape before this line",
        ),
    )


def _one_longer(crash: Crash, names: dict[int, str], first: HeldTensor, second: HeldTensor) -> Proof | None:
    """A parameter of a fixed length beside a sequence to which something was joined: a class token."""
    for fixed, other in ((first, second), (second, first)):
        axes = [axis for axis in range(min(fixed.ndim, other.ndim)) if fixed.shape[axis] != other.shape[axis]]
        axes = [axis for axis in axes if fixed.shape[axis] != 1]
        joined = made_by(crash, other, "cat", "concat", "concatenate")
        made = made_at(crash, fixed)
        if not fixed.is_parameter or fixed.ndim != other.ndim or len(axes) != 1 or joined is None or made is None:
            continue
        axis = axes[0]
        more = other.shape[axis] - fixed.shape[axis]
        if not 0 < more <= _FEW_JOINED:
            continue
        name = names[id(fixed)]
        return Proof(
            where=made,
            message=f"`{name}` has {fixed.shape[axis]} places, and `{names[id(other)]}` has {other.shape[axis]}: "
            f"{more} more {'was' if more == 1 else 'were'} joined to it",
            label=f"axis {axis} should be {other.shape[axis]}",
            evidence={name: list(fixed.shape), names[id(other)]: list(other.shape)},
            fix=f"make it {more} longer on axis {axis}: {other.shape[axis]} instead of {fixed.shape[axis]}",
            related=[(joined.site, f"{more} joined here"), (crash.site, "they meet here")],
        )
    return None


def _lacks_axes(crash: Crash, first_name: str, first: HeldTensor, second_name: str, second: HeldTensor) -> Proof | None:
    """An operand that would fit with more axes of size 1: a mask over heads, one weight per row."""
    for name, less, more in ((first_name, first, second), (second_name, second, first)):
        index = index_for(less.shape, more.shape)
        met = met_from_the_right(more.shape, less.shape)
        if not index or met is None:
            continue
        plain = name.replace(".", "").isidentifier()
        return Proof(
            where=crash.site,
            message=f"`{name}` {list(less.shape)} lacks axes of size 1: shapes are matched from the last axis, where "
            f"{met[0]} meets {met[1]}",
            label=f"{first_name} {list(first.shape)}, {second_name} {list(second.shape)}",
            evidence={first_name: list(first.shape), second_name: list(second.shape)},
            edit=tensors.named_operand(crash.site, name, index) if plain else None,
            fix=f"add them: {name if plain else f'({name})'}{index}",
        )
    return None


def _along(crash: Crash, joined: Joined) -> Proof:
    """Tensors that only differ in the axis they were meant to be joined along."""
    shapes = [list(tensor.shape) for _, tensor in crash.operands]
    used = f"axis {joined.used}" + ("" if joined.is_said else ", the default")
    return Proof(
        where=crash.site,
        message=f"`{joined.op}` joins along {used}, but the tensors differ in axis {joined.needed}",
        label=", ".join(f"{name} {list(tensor.shape)}" for name, tensor in crash.operands[:4]),
        evidence={"shapes": shapes[:4], "axis": joined.used},
        edit=edits.argument(crash.site, 1, joined.keyword, str(joined.needed)),
        fix=f"join them along that axis: {joined.suggested}",
    )


def _for_classes(run: Evidence, op: str, scores: HeldTensor, labels: HeldTensor) -> str | None:
    """One number per sample against a score per class: class numbers, given as floats."""
    if not op.startswith("`binary_cross_entropy") or scores.ndim != 2 or labels.shape != scores.shape[:1]:
        return None
    if scores.shape[1] < 2:
        return None
    chosen = " (Transformers chooses this loss because the labels are floats)" if run.trainer.name == _HF else ""
    classes = f"for {scores.shape[1]} classes use cross_entropy with labels as int64, labels.long(){chosen}"
    one = "; or give the last layer one output, and the loss output.squeeze(1)" if scores.shape[1] == 2 else ""
    return classes + one


def _product(op: str, first_name: str, first: HeldTensor, second_name: str, second: HeldTensor) -> str:
    """For a matrix product: the operand whose last two axes fit when they are swapped."""
    a, b = first.shape, second.shape
    if op not in ("`matmul`", "`mm`", "`bmm`") or len(a) < 2 or len(b) < 2:
        return ""
    if a[-1] == b[-1] and a[-1] != b[-2]:
        turned = f"{second_name}.transpose(-2, -1)" if len(b) > 2 else f"{second_name}.T"
        return f"swap the last two axes of {second_name}, so that {a[-1]} meets {b[-1]}: {turned}"
    if a[-2] == b[-2] and a[-1] != b[-2]:
        turned = f"{first_name}.transpose(-2, -1)" if len(a) > 2 else f"{first_name}.T"
        return f"swap the last two axes of {first_name}, so that {a[-2]} meets {b[-2]}: {turned}"
    return f"the last axis of {first_name} ({a[-1]}) has to be as long as the last but one of {second_name} ({b[-2]})"


def _swapped(name: str, shape: tuple[int, ...], wanted: tuple[int, ...]) -> str:
    """The two axes to swap so that a tensor gets the other's shape; "" where no swap does it."""
    for i in range(len(shape)):
        for j in range(i + 1, len(shape)):
            turned = list(shape)
            turned[i], turned[j] = turned[j], turned[i]
            if shape[i] != shape[j] and tuple(turned) == wanted:
                return f"swap axes {i} and {j} of {name}: {name}.transpose({i}, {j})"
    return ""


def _mend(first_name: str, first: HeldTensor, second_name: str, second: HeldTensor) -> str:
    a, b = first.shape, second.shape
    for name, more, less in ((first_name, a, b), (second_name, b, a)):
        if len(more) == len(less) + 1:
            for axis, size in enumerate(more):
                if size == 1 and more[:axis] + more[axis + 1 :] == less:
                    return f"remove the extra axis: {name}.squeeze({axis})"
    if len(a) == len(b):
        swapped = _swapped(second_name, b, a)
        if swapped:
            return swapped
    return ""


def _squeezed(
    where: Any, first_name: str, first: HeldTensor, second_name: str, second: HeldTensor
) -> edits.Plan | None:
    found = re.search(r"^remove the extra axis: (.+)\.(squeeze\(\d+\))$", _mend(first_name, first, second_name, second))
    return None if found is None else tensors.named_operand(where, found[1], f".{found[2]}")
