from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.common.ops import CASTS, CONSTANTS
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile
from stepscope.evidence.losses import LossCall
from stepscope.evidence.origins import CONSTANT, Origin
from stepscope.records.step import Site

_FEWEST_CALLS, _FEWEST_TARGETS = 3, 10
_PICKS = frozenset({"getitem", "where", "masked_select", "masked_fill", "reshape", "view", "flatten"})
_FAR = 6


@rule("loss.masked-labels", severity="error")
def masked_labels(run: Evidence) -> Iterator[Proof]:
    """The labels of a masked language model are the same tensor that was masked in place, so all of them are the mask.

    Why it matters: the loss falls to zero at once, and the model learns nothing but to answer with the mask token.

    What to do: keep a copy before masking: `labels = ids.clone()`.

    How it is found: the targets are picked from the same tensor that the model was given, this tensor was not filled
    with one value, and in each of at least three calls all targets are one and the same class, out of three or more.

    Bad:
        labels = ids
        ids[picked] = MASK
    Good:
        labels = ids.clone()
        ids[picked] = MASK
    """
    for calls in run.losses.by_place("cross_entropy", "nll_loss"):
        looked = [call for call in calls if call.counts]
        if len(looked) < _FEWEST_CALLS or len({_only(call) for call in looked} - {None}) != 1:
            continue
        if not all(_only(call) is not None and _is_given(call) for call in looked):
            continue
        first = looked[0]
        files = run.source.files()
        alias = next((site for file in files for site in _aliases(file)), None)
        where = first.place if alias is None else alias
        yield Proof(
            where=where,
            message=f"the labels are the tensor that was masked in place: each one is {_only(first)}",
            label="another name for the same tensor" if alias is not None else "",
            evidence={"class": _only(first), "calls": len(looked)},
            fix="keep a copy before masking: labels = ids.clone()",
            related=[] if alias is None or first.place is None else [(first.place, "the loss that uses them")],
        )


def _only(call: LossCall) -> int | None:
    """The one class that all targets have."""
    counts = {kind: number for kind, number in (call.counts or {}).items() if kind != call.ignore_index}
    shape = call.shapes.get("input", ())
    classes = 0 if len(shape) < 2 else shape[1]
    if len(counts) != 1 or classes < 3 or sum(counts.values()) < _FEWEST_TARGETS:
        return None
    return next(iter(counts))


def _is_given(call: LossCall) -> bool:
    """Whether the targets were picked from a tensor given to the model that is not filled with one value."""
    if call.input is None or call.target is None:
        return False
    visits = {id(one.visit.root): one.visit.root for one in call.input.ancestors(400) if one.visit is not None}
    given = {id(one.back_through(CASTS)) for visit in visits.values() for one in visit.inputs}
    return any(id(one) in given and not _is_constant(one) for one in _picked_from(call.target, _FAR))


def _is_constant(origin: Origin) -> bool:
    return origin.tags == CONSTANT or origin.op in CONSTANTS


def _picked_from(origin: Origin, depth: int) -> Iterator[Origin]:
    if depth and origin.op in _PICKS:
        for one in origin.inputs:
            yield one.back_through(CASTS)
            yield from _picked_from(one, depth - 1)


def _aliases(file: SourceFile) -> Iterator[Site]:
    """`labels = ids` where one of the two is written to afterward, in the same function."""
    for node in file.walk(ast.Assign):
        if not isinstance(node.value, ast.Name) or not isinstance(node.targets[0], ast.Name):
            continue
        scope = file.enclosing(node, ast.FunctionDef, ast.Module)
        names = {node.value.id, node.targets[0].id}
        for part in ast.walk(scope) if scope is not None else ():
            if not isinstance(part, ast.Subscript) or not isinstance(part.ctx, ast.Store):
                continue
            if part.lineno > node.lineno and isinstance(part.value, ast.Name) and part.value.id in names:
                yield file.site(node)
                break
