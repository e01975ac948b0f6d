from __future__ import annotations

from collections.abc import Iterator

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
    same tensor, with nothing random on the way (no dropout, no noise).

    Bad:
        view = augment(x)
        loss = info_nce(model(view), model(view))
    Good:
        loss = info_nce(model(augment(x)), model(augment(x)))
    """
    found: dict[Place | None, list[tuple[Visit, Visit]]] = {}
    for backward in list(run.steps.backwards)[: 4 * _STEPS]:
        for origin in backward.origin.ancestors(_FAR) if backward.origin is not None else ():
            if origin.op in _MEET and (pair := _twins(origin)) is not None:
                found.setdefault(pair[1].place, []).append(pair)
                break
    for place, several in found.items():
        if place is None or len(several) < _STEPS:
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


def _twins(meeting: Origin) -> tuple[Visit, Visit] | None:
    """The two calls of one model whose results meet here, if they are the same computation."""
    if len(meeting.inputs) != 2 or not all(one.requires_grad and one.shape for one in meeting.inputs):
        return None
    one, other = (part.back_through(RESHAPES) for part in meeting.inputs)
    first, second = _root(one), _root(other)
    if one is other or first is None or second is None or first is second or first.module is not second.module:
        return None
    return (first, second) if _is_same(one, other) else None


def _root(origin: Origin) -> Visit | None:
    made = next((past for past in origin.ancestors(_DEEP) if past.visit is not None), None)
    return None if made is None or made.visit is None else made.visit.root


def _is_same(one: Origin, other: Origin) -> bool:
    """Whether two tensors are the same operations on the same tensors."""
    queue, known = [(one, other)], set[tuple[int, int]]()
    for first, second in queue:
        if first is second:
            continue
        is_alike = first.op == second.op and first.op not in ("", *_RANDOM) and first.arguments == second.arguments
        if not is_alike or len(first.inputs) != len(second.inputs) or len(queue) > _WIDE or not first.inputs:
            return False
        for pair in zip(first.inputs, second.inputs, strict=True):
            key = (id(pair[0]), id(pair[1]))
            if key not in known:
                known.add(key)
                queue.append(pair)
    return True
