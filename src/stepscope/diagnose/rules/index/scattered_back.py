from __future__ import annotations

from collections.abc import Iterator

from stepscope.common.ops import ELEMENTWISE, RESHAPES
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.origins import Origin
from stepscope.records.place import Place

_SCATTERS = frozenset({"index_add", "index_add_", "scatter_add", "scatter_add_", "scatter_reduce", "scatter_reduce_"})
_PICKS = frozenset({"getitem", "index_select", "gather"})
_PLAIN = ELEMENTWISE | RESHAPES
_FAR = 4000
_ENOUGH = 3


@rule("index.scattered-back", severity="warning")
def scattered_back(run: Evidence) -> Iterator[Proof]:
    """Rows are picked by an index and added up at the same index: each row only gets copies of itself.

    Why it matters: in a graph network the messages of the neighbors never arrive. Every node sees its own features,
    times its number of edges, and the edges may as well not be there.

    What to do: pick at one end of the edges, add at the other: `out.index_add_(0, dst, x[src])`.

    How it is found: behind at least three losses, rows that a line picks with an index tensor (and at most scales) are
    added up by `index_add` or `scatter_add` with the very same index tensor.

    Bad:
        out = torch.zeros_like(x).index_add_(0, src, x[src])
    Good:
        out = torch.zeros_like(x).index_add_(0, dst, x[src])
    """
    found: dict[Place, list[tuple[Origin, Origin]]] = {}
    for backward in run.steps.backwards:
        seen: set[Place] = set()
        for past in () if backward.origin is None else backward.origin.ancestors(_FAR):
            picked = _picked_alike(past) if past.op in _SCATTERS else None
            if picked is not None and past.place is not None and past.place not in seen:
                seen.add(past.place)
                found.setdefault(past.place, []).append((past, picked))
    for place, several in found.items():
        if len(several) < _ENOUGH:
            continue
        scattered, picked = several[0]
        yield Proof(
            where=place,
            message="rows are added up at the same index that they were picked with: each row gets copies of itself, "
            "and nothing from the others",
            label="the same index tensor as where the rows were picked",
            evidence={"op": scattered.op, "rows": list(picked.shape[:1]), "losses": len(several)},
            fix="add them up at the other end of the edges: pick with src, add at dst",
            related=[(picked.place, "the rows are picked here")] if picked.place is not place else [],
        )


def _picked_alike(scattered: Origin) -> Origin | None:
    """Where the rows that are added up were picked, if that was with the same index and by nothing else."""
    if len(scattered.inputs) < 3:
        return None
    index = _base(scattered.inputs[1])
    if not index.shape or index.is_floating:
        return None
    picks = []
    for past in scattered.inputs[2].ancestors(40, through=lambda one: one.op in _PLAIN):
        if past.op in _PICKS and len(past.inputs) == 2:
            picks.append(past)
        elif past.op not in _PLAIN and past.shape and past.shape[0] != index.shape[0]:
            continue
        elif past.op not in _PLAIN and past.requires_grad:
            return None  # a layer, or attention: not the rows as they were
    same = [one for one in picks if _key(_base(one.inputs[1])) == _key(index)]
    return same[0] if len(same) == len(picks) and same else None


def _base(index: Origin) -> Origin:
    """The index tensor behind `index[:, None].expand(...)`."""
    while index.inputs and (index.op in RESHAPES or _adds_axes(index)):
        index = index.inputs[0]
    return index


def _adds_axes(index: Origin) -> bool:
    """`index[:, None]`"""
    is_one = index.op == "getitem" and len(index.inputs) == 1
    return is_one and [size for size in index.shape if size != 1] == [s for s in index.inputs[0].shape if s != 1]


def _key(index: Origin) -> object:
    """The same for `edges[0]` each time it is written."""
    if index.op in ("getitem", "select") and len(index.inputs) == 1:
        return id(index.inputs[0]), repr(sorted(index.arguments.items()))
    return id(index)
