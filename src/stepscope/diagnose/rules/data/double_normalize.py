from __future__ import annotations

import re
from collections.abc import Iterator

from stepscope.diagnose.data_sources import birth
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.model_inputs import ModelInput
from stepscope.evidence.origins import Origin

_TINY = 0.02
_SCALES = frozenset({"div", "div_", "mul", "mul_", "true_divide", "divide"})
_SHIFTS = frozenset({"sub", "sub_", "add", "add_", "subtract"})
_BY_255 = re.compile(r"/=?\s*25[56](\.0*)?\b|\*=?\s*\(?1(\.0*)?\s*/\s*25[56]")


@rule("data.double-normalize", severity="warning")
def double_normalize(run: Evidence) -> Iterator[Proof]:
    """The data is scaled twice on its way to the model.

    Why it matters: after the second division all inputs are almost zero, and the model sees next to nothing: training
    starts slowly or not at all.

    What to do: scale in one place only, in the dataset or in the loop.

    How it is found: the values at the first layer are all tiny and a division was seen on the way; or the same shift
    and the same scale were applied two times.

    Bad:
        x = images / 255            # in the dataset, and again in the loop
    Good:
        x = images                  # the dataset has scaled them already
    """
    for entrance in run.model_inputs.all:
        if not entrance.looks or entrance.normalised_next or (len(entrance.looks) < 2 and not run.over):
            continue
        scalings = [past for past in _past(entrance) if past.op in _SCALES and _number(past) is not None]
        twice = _repeated(entrance, scalings)
        highest = max(max(-look.low, look.high) for look in entrance.looks)
        tiny = (
            0 < highest < _TINY
            and any(_shrinks(past) for past in scalings)
            and (sum(_shrinks(past) for past in scalings) >= 2 or _written_twice(run))
        )
        if not tiny and twice is None:
            continue
        second = twice or next(past for past in scalings if _shrinks(past))
        said = f"the values that reach the first layer are at most {highest:.2g}" if tiny else "the same scaling, twice"
        yield Proof(
            where=second.place or birth(run, entrance.origin) or entrance.place,
            message=f"the data is scaled twice before the model: {said}",
            label=f"scaled by {_number(second):.4g} here, and once more on the way",
            evidence={"highest": highest, "scalings": [_number(past) for past in scalings][:6]},
            fix="scale the data in one place only",
            related=[(past.place, "also scaled here") for past in scalings[:3] if past.place != second.place],
        )


def _past(entrance: ModelInput) -> list[Origin]:
    return list(entrance.origin.ancestors(120))


def _number(past: Origin) -> float | None:
    """The plain number an op scales or shifts by."""
    other = past.arguments.get("other", past.arguments.get("arg1"))
    return float(other) if isinstance(other, (int, float)) and not isinstance(other, bool) else None


def _shrinks(past: Origin) -> bool:
    number = _number(past) or 1.0
    return abs(number) >= 50 if past.op.startswith(("div", "true_div")) else 0 < abs(number) <= 0.02


def _repeated(entrance: ModelInput, scalings: list[Origin]) -> Origin | None:
    """The later of two equal scalings on one way to the model, each with the same shift before it."""
    way, origin = [entrance.origin], entrance.origin
    while origin.inputs and len(way) < 60:
        origin = origin.inputs[0]
        way.append(origin)
    shifts = [_number(past) for past in way if past.op in _SHIFTS and _number(past) not in (None, 0.0)]
    for later in scalings:
        number = _number(later)
        same = [past for past in way if past in scalings and _number(past) == number and past.op == later.op]
        if len(same) > 1 and number not in (0.0, 1.0, -1.0) and any(shifts.count(shift) >= 2 for shift in shifts):
            return later
    return None


def _written_twice(run: Evidence) -> bool:
    return sum(len(_BY_255.findall(file.text)) for file in run.source.files()) >= 2
