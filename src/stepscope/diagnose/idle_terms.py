"""Terms of a loss that change its value and train nothing, and the operation that cut their gradient off.

A loss is taken apart (`loss_terms.terms`). A term without a gradient that was computed from something that has one was
meant to train it: somewhere between the two the way was cut. A number that is added to the loss, and was an `item()` of
a tensor with a gradient before, is such a term as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.diagnose.loss_terms import constant_of, source, terms
from stepscope.evidence.origins import HOST

if TYPE_CHECKING:
    from stepscope.diagnose.evidence import Evidence
    from stepscope.diagnose.loss_terms import Term
    from stepscope.evidence.host_reads import HostRead
    from stepscope.evidence.origins import Origin
    from stepscope.evidence.steps import Backward
    from stepscope.records.place import Place

FLAT = frozenset({"round", "floor", "ceil", "sign", "sgn", "trunc", "heaviside", "floor_divide", "fix"})
"""What has a derivative of zero wherever it has one."""
_BACKWARDS = 3
_LOOKED = 12
_ANCESTORS = 3000
_TENSORS = frozenset({"tensor", "as_tensor", "from_numpy", "asarray"})


@dataclass
class IdleTerm:
    """A term that trains nothing, in several backwards."""

    way: str
    """no-create-graph · detach · no_grad · rebuilt · host · no-derivative · flat"""
    cut: Origin
    """The op behind which no gradient comes."""
    place: Place
    """Where it is."""
    loss: Place | None
    values: list[float] = field(default_factory=list)
    backwards: int = 0

    @property
    def varies(self) -> bool:
        """It is more than a constant."""
        return not self.values or len(set(self.values)) > 1


def idle_terms(run: Evidence) -> list[IdleTerm]:
    """Those seen in at least three backwards, each once."""
    found: dict[Place, IdleTerm] = {}
    seen = [one for one in run.steps.backwards if one.accumulates and one.origin is not None and one.requires_grad]
    for backward in seen[-_LOOKED:]:
        for way, cut, place, value in _of_backward(run, backward):
            known = found.setdefault(place, IdleTerm(way, cut, place, backward.place))
            known.backwards += 1
            if value is not None:
                known.values.append(value)
    return [one for one in found.values() if one.backwards >= _BACKWARDS and one.varies]


_Found = tuple[str, "Origin", "Place", "float | None"]


def _of_backward(run: Evidence, backward: Backward) -> Iterator[_Found]:
    loss = backward.origin
    if loss is None:
        return
    parts = list(terms(loss, until=_is_cut))
    live = {id(source(part.origin)) for part in parts if part.origin.requires_grad}
    seen: set[Place] = set()
    for part in parts:
        if not part.factor or part.origin.shape not in ((), (1,)) or part.origin is loss:
            continue
        for way, cut in _cut(run, part, backward):
            if way == "detach" and any(id(source(one.origin)) in live for one in terms(cut.inputs[0])):
                continue  # x + (f(x) - x).detach(): the value of one with the gradient of the other
            if cut.place is not None and cut.place not in seen:
                seen.add(cut.place)
                yield way, cut, cut.place, part.origin.value
    yield from _added_numbers(run, loss, backward)


def _cut(run: Evidence, part: Term, backward: Backward) -> Iterator[tuple[str, Origin]]:
    """How a term lost its gradient, and where."""
    origin = part.origin
    if origin.requires_grad:
        flat = _flat_before(origin)
        if flat is not None:
            yield "flat", flat
        elif not _reaches_weights(origin):  # only an input: the point that a derivative was taken at
            yield from (("no-create-graph", past) for past in _plain_gradients(origin))
        return
    for past in origin.ancestors(_ANCESTORS, through=lambda one: not one.requires_grad):
        if past.op and _is_cut(past):
            yield _way(past), past
            return
    for past in origin.ancestors(_ANCESTORS):
        is_new = past.op in _TENSORS and past.tags & HOST and not past.inputs and past.step == backward.step
        if is_new and _read_before(run, past) is not None:
            yield "host", past
            return


def _is_cut(origin: Origin) -> bool:
    return not origin.requires_grad and any(one.requires_grad for one in origin.inputs)


def _reaches_weights(origin: Origin) -> bool:
    """Whether a gradient of it can reach something learned."""
    seen = list(origin.ancestors(_ANCESTORS, through=lambda one: one.requires_grad))
    learned = (one.requires_grad and (one.kind == "parameter" or one.op.startswith("unseen:")) for one in seen)
    return len(seen) >= _ANCESTORS or any(learned)


def _plain_gradients(origin: Origin) -> Iterator[Origin]:
    """Results of `autograd.grad()` without a graph, of something that weights took part in."""
    for past in origin.ancestors(_ANCESTORS):
        if past.op == "grad" and _is_cut(past) and any(_reaches_weights(one) for one in past.inputs):
            yield past
            return


def _flat_before(origin: Origin) -> Origin | None:
    """The op of zero derivative that every way from here to something learned leads through."""
    flat = None
    for past in origin.ancestors(_ANCESTORS, through=lambda one: one.requires_grad and one.op not in FLAT):
        if past.op in FLAT and past.requires_grad:
            flat = flat or past
        elif past.requires_grad and (not past.inputs or past.op.startswith("unseen:")):
            return None
    return flat


def _way(origin: Origin) -> str:
    if origin.op == "grad":
        return "no-create-graph"
    if origin.op in ("detach", "detach_", "data"):
        return "detach"
    if not origin.grad:
        return "no_grad"
    return "rebuilt" if origin.op in ("tensor", "as_tensor") else "no-derivative"


def _read_before(run: Evidence, made: Origin) -> HostRead | None:
    """The value of something learned that was read in this step, in the same function, before a tensor was made."""
    for read in reversed(run.host_reads.all):
        before = read.step == made.step and read.index <= made.index
        if before and read.place is not None and read.place is not made.place and read.place.is_beside(made.place):
            return read  # at the same expression both are a library's: a trainer runs all of its lines on one of ours
    return None


def _added_numbers(run: Evidence, loss: Origin, backward: Backward) -> Iterator[_Found]:
    """`loss = loss + 0.1 * penalty.item()`: the number is a multiple of a value that was read on the same line."""
    for join in loss.ancestors(200, through=lambda one: one.op in ("add", "sub", "mul", "div") and not one.shape):
        number = constant_of(join) if join.op in ("add", "sub") and len(join.inputs) == 1 and not join.shape else None
        if number is None or join.place is None:
            continue
        for read in run.host_reads.all:
            if read.step != backward.step or read.place is None or not read.value or not read.origin.requires_grad:
                continue
            same_line = read.place.file == join.place.file and read.place.line == join.place.line
            if same_line and number and read.place is not join.place:  # the same: a trainer's, called on that line
                yield "host", read.origin, join.place, number
                break
