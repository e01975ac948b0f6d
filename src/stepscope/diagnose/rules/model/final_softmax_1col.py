from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stepscope.common.ops import RESHAPES, SOFTMAXES, VIEWS
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.origins import Origin


@rule("model.final-softmax-1col", severity="error", needs="steps, end")
def final_softmax_1col(run: Evidence) -> Iterator[Proof]:
    """A softmax over a single value: the output is 1, always.

    Why it matters: the model predicts class 1 with certainty for everything; no gradient flows, nothing is learned.

    What to do: one output with `BCEWithLogitsLoss` (a sigmoid), or two outputs with `CrossEntropyLoss`.

    How it is found: the output of a model, or what a loss reads, was made by a softmax along an axis of size 1, or
    `cross_entropy` got a single class; in every step. Attention weights too: one score for each element of a set, from
    a layer with one output, and a softmax over that output instead of over the set.

    Bad:
        nn.Sequential(nn.Linear(8, 1), nn.Softmax(dim=1))
    Good:
        nn.Linear(8, 1)          # with nn.BCEWithLogitsLoss()
    """
    seen: set[object] = set()
    for calls in run.losses.by_place():
        if len(calls) < 2:
            continue
        lonely = [origin for call in calls if (origin := _lonely(call.input)) is not None]
        if len(lonely) == len(calls) and lonely[0].place not in seen:
            seen.add(lonely[0].place)
            yield _proof(run, lonely[0])
        single = [call for call in calls if call.name == "cross_entropy" and _classes(call.shapes.get("input")) == 1]
        if len(single) == len(calls) and not any(call.value for call in calls if call.value is not None):
            yield Proof(
                where=calls[0].place,
                message="cross_entropy gets one class only: its softmax is 1 and the loss is 0, always",
                label="an input of one column",
                evidence={"shape": list(calls[0].shapes.get("input", ()))},
                fix="use binary_cross_entropy_with_logits for one output, or give the last layer two outputs",
            )
    for backward in list(run.steps.backwards)[1:4]:
        for origin in backward.origin.ancestors(200) if backward.origin is not None else ():
            root = None if origin.visit is None else origin.visit.root
            last = root is not None and any(origin is output for output in root.outputs)
            if _lonely(origin) is origin and (last or _is_of_scores(origin)) and origin.place not in seen:
                seen.add(origin.place)
                yield _proof(run, origin)


def _lonely(origin: Origin | None) -> Origin | None:
    """The softmax this comes from, if it went along an axis of size 1 (and there was more than one row)."""
    found = None if origin is None else origin.back_through(VIEWS | {"log"})
    if found is None or found.op not in SOFTMAXES or len(found.shape) < 2 or not found.requires_grad:
        return None
    dim = found.arguments.get("dim")
    if not isinstance(dim, int) or not -len(found.shape) <= dim < len(found.shape):
        return None
    rows = 1
    for size in found.shape:
        rows *= size
    return found if found.shape[dim] == 1 and rows > 1 else None


def _is_of_scores(softmax: Origin) -> bool:
    """Of one score for each of several elements, from `nn.Linear(d, 1)`, and not over the elements."""
    if len(softmax.shape) < 3 or softmax.place is None or not softmax.inputs:
        return False
    dim = softmax.arguments.get("dim")
    axis = dim % len(softmax.shape) if isinstance(dim, int) else 0
    scores = softmax.inputs[0].back_through(RESHAPES)
    several = any(size > 1 for at, size in enumerate(softmax.shape) if at not in (0, axis))
    return several and axis > 0 and scores.op in ("linear", "addmm", "matmul") and scores.shape[-1] == 1


def _classes(shape: Any) -> int | None:
    return shape[1] if shape and len(shape) > 1 else None


def _proof(run: Evidence, softmax: Origin) -> Proof:
    module = None if softmax.visit is None else softmax.visit.module
    is_layer = module is not None and not module.own and not module.children
    where = module.made if module is not None and is_layer else None
    if _is_of_scores(softmax):
        axis = max(range(1, len(softmax.shape)), key=lambda at: softmax.shape[at])
        return Proof(
            where=where or softmax.place,
            message=f"this softmax runs over an axis of size 1 (shape {list(softmax.shape)}): every weight is 1, and "
            "the scores before it never learn",
            label="one score for each element: always 1",
            evidence={"shape": list(softmax.shape), "dim": softmax.arguments.get("dim")},
            fix=f"take it over the elements: dim={axis}",
        )
    return Proof(
        where=where or softmax.place,
        message=f"this softmax runs over an axis of size 1 (shape {list(softmax.shape)}): it gives 1 for everything",
        label="one column: always 1",
        evidence={"shape": list(softmax.shape), "dim": softmax.arguments.get("dim")},
        fix="use a sigmoid (nn.BCEWithLogitsLoss on the raw output), or give the last layer two outputs",
    )
