from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stepscope.common.ops import DROPOUTS, NOISE, RESHAPES
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.origins import Origin
from stepscope.evidence.visits import Visit
from stepscope.records.place import Place

_STEPS = 3
_FAR, _DEEP, _WIDE = 1500, 60, 400
_MEET = frozenset({
    "matmul", "mm", "einsum", "cdist", "cosine_similarity", "pairwise_distance", "cat", "concat", "mse_loss", "sub",
    "mul",
})  # fmt: skip
_RANDOM = DROPOUTS | NOISE | {"randint", "randperm", "uniform_", "multinomial", "rrelu", "random_", "poisson"}


@rule("data.same-view", severity="error", follows=("loss.self-similarity", "data.positive-is-anchor"))
def same_view(run: Evidence) -> Iterator[Proof]:
    """The two views of a sample that a contrastive loss compares are one and the same.

    Why it matters: the pairs agree whatever the model does, so it learns to tell samples apart, but not what to ignore:
    that is what two different views are for.

    What to do: augment twice, and give the model each view once.

    How it is found: two results of a model meet in the loss, and they were computed by the same operations from the
    same tensor, with nothing random on the way (no dropout, no noise), wherever results of these calls meet.

    Bad:
        view = augment(x)
        loss = info_nce(model(view), model(view))
    Good:
        loss = info_nce(model(augment(x)), model(augment(x)))
    """
    found: dict[Place | None, list[tuple[Visit, Visit]]] = {}
    differ: set[Place | None] = set()
    for backward in list(run.steps.backwards)[: 4 * _STEPS]:
        compared = list(_compared(backward.origin)) if backward.origin is not None else []
        differ |= {second.place for _, second, is_same in compared if not is_same}
        if compared and compared[0][2]:
            found.setdefault(compared[0][1].place, []).append(compared[0][:2])
    for place, several in found.items():
        if place is None or place in differ or len(several) < _STEPS:
            continue
        first, second = several[0]
        yield Proof(
            where=place,
            message=f"{second.type} is called twice with the same input, and the loss compares the two results: both "
            "views of a sample are the same",
            label="the same view again",
            evidence={"steps": len(several)},
            fix="augment the samples twice, and give the model each of the two views once",
            related=[(first.place, "the first of the two calls")] if first.place is not place else [],
        )


def _compared(loss: Origin) -> Iterator[tuple[Visit, Visit, bool]]:
    """Two calls of one model whose results meet in the loss, and whether they are the same computation."""
    for meeting in loss.ancestors(_FAR):
        both = meeting.op in _MEET and len(meeting.inputs) == 2
        if not both or not all(part.requires_grad and part.shape for part in meeting.inputs):
            continue  # a detached result is not a view
        one, other = (part.back_through(RESHAPES) for part in meeting.inputs)
        first, second = _root(one), _root(other)
        if one is other or first is None or second is None or first is second or first.module is not second.module:
            continue
        yield first, second, _is_same(one, other)


def _root(origin: Origin) -> Visit | None:
    made = next((past for past in origin.ancestors(_DEEP) if past.visit is not None), None)
    return None if made is None or made.visit is None else made.visit.root


def _is_same(one: Origin, other: Origin) -> bool:
    """Whether two tensors are the same operations on the same tensors."""
    queue, known = [(one, other)], set[tuple[int, int]]()
    for first, second in queue:
        if first is second:
            continue
        if not _is_alike(first, second) or not first.inputs or len(queue) > _WIDE:
            return False
        for pair in zip(first.inputs, second.inputs, strict=True):
            key = (id(pair[0]), id(pair[1]))
            if key not in known:
                known.add(key)
                queue.append(pair)
    return True


def _is_alike(one: Origin, other: Origin) -> bool:
    """Whether both are the same result of the same operation, so that only their inputs can differ."""
    if one.op != other.op or one.op in _RANDOM or not one.op or len(one.inputs) != len(other.inputs):
        return False
    return one.output == other.output and one.arguments == other.arguments and _is_known(one.arguments)


def _is_known(argument: Any) -> bool:
    """Whether equal descriptions mean equal values: an array as an index is described by its type alone."""
    if isinstance(argument, dict):
        return all(map(_is_known, argument.values()))
    if isinstance(argument, list):
        return all(map(_is_known, argument))
    return not isinstance(argument, str) or not argument.startswith(("<", "..."))
