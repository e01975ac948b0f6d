"""Reading the history of a tensor: what was really computed, the terms of a loss, and the line to change.

An `Origin` holds every op; rules ask for what matters: `source` looks through views and casts, `terms` takes a sum
apart and keeps the sign and factor of each part, `where_applied` finds the line that put an activation where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepscope.common.ops import JOINS, REDUCTIONS, RESHAPES, VIEWS

if TYPE_CHECKING:
    from stepscope.diagnose.evidence import Evidence
    from stepscope.evidence.origins import Origin
    from stepscope.records.place import Place


def source(origin: Origin) -> Origin:
    """What was computed, behind views, casts and copies."""
    return origin.back_through(VIEWS)


def constant_of(origin: Origin) -> float | None:
    """The plain number among the arguments of `x * 0.5`, `x + 1`."""
    for value in origin.arguments.values():
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
    return None


def axes_of(origin: Origin, axes: int | None = None) -> tuple[int, ...] | None:
    """The axes an op works along (`dim=1`, `axis=(0, 2)`), counted from 0; None when it was not told."""
    given = origin.arguments
    found = given.get("dim", given.get("axis", given.get("dims")))
    if found is None or isinstance(found, (bool, str)):
        return None
    rank = len(origin.inputs[0].shape) if axes is None and origin.inputs else (axes or 0)
    several = found if isinstance(found, (list, tuple)) else [found]
    return tuple(int(axis) % rank for axis in several if isinstance(axis, int)) if rank else None


def reduces_all(origin: Origin) -> bool:
    """`x.mean()`, `x.sum()`: over every axis at once."""
    return origin.op in REDUCTIONS and not axes_of(origin) and not origin.shape


@dataclass(frozen=True)
class Term:
    """A part of a sum: what was added, and the factor it has in the sum (its sign at least)."""

    origin: Origin
    factor: float
    reductions: tuple[Origin, ...] = ()
    """The means and sums between the whole and this part."""
    joins: tuple[Origin, ...] = ()
    """The + and - between the whole and this part."""

    @property
    def value(self) -> float | None:
        """What it adds to the whole, where it is a single number."""
        return None if self.origin.value is None else self.factor * self.origin.value

    def part(self, origin: Origin, times: float = 1.0, join: Origin | None = None) -> Term:
        joins = self.joins if join is None else (*self.joins, join)
        return Term(origin, self.factor * times, self.reductions, joins)


def terms(
    whole: Origin, inside_reductions: bool = False, most: int = 400, until: Callable[[Origin], bool] | None = None
) -> Iterator[Term]:
    """Take a sum apart: through + and -, through factors that are numbers, and (if asked) through means and sums. What
    `until` holds of is left whole."""
    queue = [Term(whole, 1.0)]
    for count, term in enumerate(queue):
        is_whole = count >= most or (until is not None and until(term.origin))
        parts = [] if is_whole else list(_parts(term, inside_reductions))
        if parts:
            queue.extend(parts)
        else:
            yield term


def _parts(term: Term, inside: bool) -> Iterator[Term]:
    origin = term.origin
    op, inputs = origin.op.rstrip("_"), origin.inputs
    if not inputs:
        return
    if op == "add":
        yield from (term.part(part, join=origin if len(inputs) > 1 else None) for part in inputs)
    elif op == "sub":
        join = origin if len(inputs) > 1 else None
        yield term.part(inputs[0], join=join)
        yield from (term.part(part, -1.0, join) for part in inputs[1:])
    elif op in ("neg", "negative", "rsub"):
        yield from (term.part(part, -1.0) for part in inputs)
    elif op in ("mul", "multiply", "div", "true_divide"):
        yield from _scaled(term, op)
    elif op in RESHAPES or op == "masked_select" or (op == "getitem" and len(inputs) > 1):
        yield term.part(
            inputs[origin.output] if op == "broadcast_tensors" and origin.output < len(inputs) else inputs[0]
        )
    elif op in JOINS and (inside or _of_numbers(origin)):
        yield from (term.part(part) for part in inputs)
    elif op in REDUCTIONS and inside:
        yield Term(inputs[0], term.factor, (*term.reductions, origin), term.joins)
    elif op in REDUCTIONS and _of_numbers(inputs[0]):
        yield from (term.part(part) for part in inputs[0].inputs)


def _of_numbers(origin: Origin) -> bool:
    """`torch.stack(losses)`: nothing but single numbers."""
    return origin.op in JOINS and all(len(part.shape) == 0 or part.shape == (1,) for part in origin.inputs)


def _scaled(term: Term, op: str) -> Iterator[Term]:
    inputs = term.origin.inputs
    if len(inputs) == 1:
        yield from _with_factor(term, inputs[0], constant_of(term.origin), op)
    elif is_number(inputs[1]):
        yield from _with_factor(term, inputs[0], inputs[1].value, op)
    elif is_number(inputs[0]) and op.startswith("mul"):
        yield from _with_factor(term, inputs[1], inputs[0].value, op)


def _with_factor(term: Term, part: Origin, number: float | None, op: str) -> Iterator[Term]:
    divides = not op.startswith("mul")
    if number is not None and number == number and not (divides and number == 0):
        yield term.part(part, 1 / number if divides else number)


def is_number(origin: Origin) -> bool:
    """A single number that nothing is learned about."""
    return not origin.shape and not origin.requires_grad and origin.value is not None


def where_applied(run: Evidence, origin: Origin) -> Place | None:
    """The line that put this op where it is: its own call, or the construction of its layer inside a container."""
    visit = origin.visit
    if visit is None or visit.parent is None or not (visit.module.is_torchs and visit.parent.module.is_torchs):
        return origin.place
    return visit.module.made or origin.place
