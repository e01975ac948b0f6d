"""Where NaN or Inf that did damage was born: the way from the loss back, over the trail or its autograd graph.

Shared by the rules of `num` and `data.nan-input`: `culprit(run)` says which of them has to speak, about which line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from stepscope.diagnose.edits import tensors
from stepscope.diagnose.nonfinite_kinds import UNKNOWN, Kind, kind_of, kind_of_warning, kind_when_steep
from stepscope.diagnose.rule import Proof
from stepscope.evidence.nonfinite import STEEP, Spot
from stepscope.records.finite import is_bad, said_of

if TYPE_CHECKING:
    from stepscope.diagnose.evidence import Evidence
    from stepscope.evidence.nonfinite import Alarm
    from stepscope.evidence.nonfinite_search import Verdict
    from stepscope.evidence.origins import Origin

_MOST = 20_000
_found: WeakKeyDictionary[Alarm, Culprit] = WeakKeyDictionary()


@dataclass(frozen=True)
class Culprit:
    """The op to blame, and how sure that is."""

    kind: Kind
    where: Any
    """Its line; that of `backward` when nothing better is known."""
    alarm: Alarm
    op: str = ""
    module: str = ""
    proven: bool = True
    """False: the only op of the loss that can do this, but its values were not seen."""
    evidence: dict[str, Any] = field(default_factory=dict)


def culprit(run: Evidence) -> Culprit | None:
    """What broke the numbers of this run; None as long as nothing did."""
    alarm = run.nonfinite.alarm
    if alarm is None:
        return None
    found = _found.get(alarm)
    if found is None:
        found = _found[alarm] = _find(alarm)
    return found


def proofs(run: Evidence, rule: str) -> Iterator[Proof]:
    """The result of a rule of this subject: one proof, when the fault is of its kind."""
    found = culprit(run)
    if found is None or found.kind.rule != rule:
        return
    alarm, kind = found.alarm, found.kind
    why = f": {kind.what}" if kind.what else ""
    related = [(alarm.place, "backward is called here")] if alarm.place not in (None, found.where) else []
    fix = kind.fix or "stop at the first bad loss (if not torch.isfinite(loss): ...), and look at what changed before"
    where = ""
    if alarm.kind == "gradient" and not found.proven and run.distributed.size > 1:
        where, fix = " of this rank", "look at the losses of the other ranks too: gradients are averaged over all ranks"
    yield Proof(
        where=found.where,
        message=_symptom(alarm, where) + why,
        label=kind.what if found.proven or not kind.what else f"{kind.what}; nothing else in this loss can do it",
        evidence={**found.evidence, "first_bad_step": alarm.step, "loss": str(alarm.value), "module": found.module},
        fix=fix,
        related=related,
        edit=tensors.kept_away(found.where, str(found.evidence.get("op", "")).rstrip("_")) if found.proven else None,
    )


def _symptom(alarm: Alarm, of_whom: str) -> str:
    if alarm.kind == "gradient":
        more = f" and {len(alarm.parameters) - 1} more" if len(alarm.parameters) > 1 else ""
        named = f"the gradient of {alarm.parameters[0]}{more}" if alarm.parameters else "a gradient"
        return f"{named} is not finite in step {alarm.step}, though the loss{of_whom} is ({alarm.value:.4g})"
    if alarm.parameters:
        return f"{alarm.parameters[0]} is no longer finite, and so the loss is {alarm.value} from step {alarm.step} on"
    return f"the loss is {alarm.value} in step {alarm.step}, and the training continues"


def _find(alarm: Alarm) -> Culprit:
    found = _of_gradient(alarm) if alarm.kind == "gradient" or alarm.parameters else _of_loss(alarm)
    return found or Culprit(UNKNOWN, alarm.place, alarm)


# A bad gradient of a loss that is finite


def _of_gradient(alarm: Alarm) -> Culprit | None:
    if alarm.origin is None:
        return None
    before = list(alarm.origin.ancestors(_MOST))
    steep = [o for o in before if isinstance(o.spot, Spot) and o.spot.kind == "slope"]
    if alarm.seen and steep:  # the backward pass meets the last one first
        return _at(alarm, max(steep, key=lambda o: o.index))
    bad = [o for o in before if isinstance(o.spot, Spot) and o.spot.kind == "value" and not o.spot.meant]
    born = [o for o in bad if not any(map(is_bad, o.spot.reads))]  # type: ignore[union-attr]
    if alarm.seen and born:
        return _at(alarm, min(born, key=lambda o: o.index))
    return _the_only_one(alarm, [o for o in before if o.op in STEEP and o.requires_grad and _can_be_steep(o)])


def _can_be_steep(origin: Origin) -> bool:
    if origin.op not in ("pow", "pow_", "float_power"):
        return True
    exponent = origin.arguments.get("exponent")
    return isinstance(exponent, float) and 0 < exponent < 1


def _the_only_one(alarm: Alarm, candidates: list[Origin]) -> Culprit | None:
    """Not seen at work, but nothing else in the loss can do it."""
    places = {o.place for o in candidates if o.place is not None}
    if len(places) != 1:
        return None
    origin = candidates[0]
    return Culprit(kind_when_steep(origin.op), origin.place, alarm, op=origin.op, proven=False)


# A bad loss


def _of_loss(alarm: Alarm) -> Culprit | None:
    if alarm.origin is not None and alarm.seen:
        found = _back(alarm, alarm.origin)
        if found is not None:
            return found
    return _by_graph(alarm, alarm.verdict) if alarm.verdict is not None else None


def _back(alarm: Alarm, loss: Origin) -> Culprit | None:
    """From bad value to bad value, to the op that made one of finite ones."""
    queue, seen = [loss], {id(loss)}
    born: list[Origin] = []
    sources: list[Origin] = []
    for origin in queue:
        if len(seen) > _MOST:
            break
        behind = _bad_inputs(origin)
        if isinstance(origin.spot, Spot) and (not behind or _spoils_a_mask(origin.spot, behind)):
            born.append(origin)
            continue
        if not origin.inputs and origin.kind in ("data", "outside"):
            sources.append(origin)
        for source in behind:
            if id(source) not in seen:
                seen.add(id(source))
                queue.append(source)
    born = [o for o in born if not o.spot.meant] or born  # type: ignore[union-attr]
    if born:
        first = min(born, key=lambda o: o.index)
        return _of_data(alarm, first) if first.op in _FROM_HOST else _at(alarm, first)
    known_bad = [o for o in sources if alarm.verdict is not None and alarm.verdict.kind == "input"]
    return _of_data(alarm, known_bad[0]) if known_bad else None


_FROM_HOST = frozenset({"tensor", "from_numpy", "as_tensor", "asarray", "FloatTensor", "frombuffer"})


def _bad_inputs(origin: Origin) -> list[Origin]:
    """What this one read that was bad, or may have been: those not looked at."""
    spot = origin.spot
    if spot is False:
        return []
    if isinstance(spot, Spot) and spot.reads and len(spot.reads) == len(origin.inputs):
        return [source for source, stats in zip(origin.inputs, spot.reads, strict=True) if is_bad(stats)]
    return [source for source in origin.inputs if source.spot is not False]


def _spoils_a_mask(spot: Spot, behind: list[Origin]) -> bool:
    """NaN out of infinities that were put there on purpose: softmax of a row that is masked whole."""
    if spot.made is None or not spot.made.nan:
        return False
    return all(isinstance(o.spot, Spot) and o.spot.meant and not (o.spot.made and o.spot.made.nan) for o in behind)


def _at(alarm: Alarm, origin: Origin) -> Culprit:
    spot = origin.spot
    assert isinstance(spot, Spot)
    kind = kind_of(spot.op, spot.kind, spot.reads, spot.made, spot.arguments)
    module = spot.visit.path or spot.visit.type if spot.visit is not None else ""
    return Culprit(kind, spot.place or alarm.place, alarm, op=spot.op, module=module, evidence=_numbers(spot))


def _numbers(spot: Spot) -> dict[str, Any]:
    reads = {f"read_{number}": said_of(stats) for number, stats in enumerate(spot.reads[:3])}
    return {"op": spot.op, **reads, "made": said_of(spot.made)}


def _of_data(alarm: Alarm, origin: Origin) -> Culprit:
    """It came in with the data: if numpy warned on the way, there; else where it became a tensor."""
    warned = _numpy_warning(alarm)
    if warned is not None:
        kind, where = warned
        return Culprit(kind, where, alarm, op="numpy", evidence={"numpy": kind.what})
    numbers = _numbers(origin.spot) if isinstance(origin.spot, Spot) else {}
    return Culprit(Kind("data.nan-input", "the data holds NaN or Inf", ""), origin.place, alarm, evidence=numbers)


def _numpy_warning(alarm: Alarm) -> tuple[Kind, tuple[str, int]] | None:
    """The first line of the user's own at which numpy has warned of a value that is not finite."""
    for text, file, line in alarm.numpy_warnings:
        kind = kind_of_warning(text)
        if kind is not None:
            return kind, (file, line)
    return None


# By the autograd graph of the loss


def _by_graph(alarm: Alarm, verdict: Verdict) -> Culprit | None:
    if verdict.kind not in ("input", "forward", "loss"):
        return None
    op = _op_name(verdict.node)
    origin = _origin_of(alarm, verdict.sequence, op)
    where = alarm.place if origin is None or origin.place is None else origin.place
    if verdict.kind == "input":
        if origin is not None:
            data = next((o for o in origin.ancestors(200) if o.kind == "data"), origin)
            return _of_data(alarm, data if data.place is not None else origin)
        return Culprit(Kind("data.nan-input", "the data holds NaN or Inf", ""), where, alarm)
    kind = kind_of(op, "value", [stats for _, stats in verdict.inputs], verdict.stats, {})
    numbers = {f"read_{name}": said_of(stats) for name, stats in verdict.inputs}
    return Culprit(
        kind, where, alarm, op=op, proven=verdict.exact, evidence={"op": op, **numbers, "made": said_of(verdict.stats)}
    )


def _op_name(node: str) -> str:
    """`log` of `LogBackward0`, `log_softmax` of `LogSoftmaxBackward0`."""
    name = re.sub(r"Backward\d*$", "", node)
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _origin_of(alarm: Alarm, sequence: int, op: str) -> Origin | None:
    if alarm.origin is None:
        return None
    before = list(alarm.origin.ancestors(_MOST))
    if alarm.seen:
        later = [o for o in before if o.sequence >= sequence]
        return min(later, key=lambda o: o.sequence) if later else None
    same = [o for o in before if o.op == op and o.place is not None]
    return same[0] if len({o.place for o in same}) == 1 else None
