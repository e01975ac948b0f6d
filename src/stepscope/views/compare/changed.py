"""*What changed*: a working and a failing run side by side, the likeliest reasons first."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Sequence

import msgspec
import numpy as np

from stepscope.common.units import counted, duration
from stepscope.errors import NotFound, StepscopeError
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.runs.points.series import Series
from stepscope.runs.read.folder import RunFolder
from stepscope.views.compare.columns import CompareColumn, Compared, columns_of, members
from stepscope.views.compare.differences import differences
from stepscope.views.compare.divergence import Parting, parting
from stepscope.views.compare.metrics import values_of
from stepscope.views.compare.pair import choose_pair, column_labels, is_broken, main_of
from stepscope.views.compare.reasons import Change
from stepscope.views.context import Context
from stepscope.views.panel_order import metrics_in_order
from stepscope.views.route import route

__all__ = ["compare_changed"]

_MACHINE = ("system/", "time/", "speed/", "memory/")
MAX_OPENED = 6
"""Maximum number of runs read per side; a larger group is represented by its newest."""
MAX_METRICS = 24
TIME_S = 4.0


class ChangedRequest(msgspec.Struct):
    runs: list[str]
    by: list[str] = []
    a: str | None = None
    """The working column; None to choose the best."""
    b: str | None = None
    """The failing column; None to choose the worst."""


class Outcome(msgspec.Struct):
    """One line of how the two ended."""

    label: str
    a: str
    b: str


class WhatChanged(msgspec.Struct):
    compared: Compared
    a: str
    b: str
    """The ids of the two columns; empty if there are fewer than two."""
    picked: str
    """Why these two, if they were not requested."""
    labels: list[str]
    """What to call the two columns: Works and Fails, Better and Worse, or First and Second."""
    headline: str
    differs: bool
    """False if both ended alike and no curves diverge: there is no outcome to explain."""
    outcome: list[Outcome]
    partings: list[Parting]
    """Metrics whose curves diverge, earliest first, then the others."""
    changes: list[Change]
    """Likeliest reason first."""
    same: list[str]
    """What is equal on both sides, in words, and so can be ruled out."""
    notes: list[str]
    """What could not be checked."""


@route("POST", "/api/compare/changed")
def compare_changed(ctx: Context, request: ChangedRequest) -> WhatChanged:
    """What differs between two runs or groups, and how likely each difference explains the outcome."""
    compared = columns_of(ctx, request.runs, request.by)
    entries = {column.id: members(ctx, column) for column in compared.columns}
    main, goal = main_of([entry for group in entries.values() for entry in group])
    a, b, picked = choose_pair(compared, entries, (request.a, request.b), main, goal)
    if a is None or b is None:
        words = "Choose two runs to see what changed between them."
        return WhatChanged(compared, "", "", "", ["First", "Second"], words, False, [], [], [], [], [])
    notes: list[str] = []
    sides = (_opened(ctx, a, notes), _opened(ctx, b, notes))
    partings = _partings(sides, main, notes)
    changes, same = differences((entries[a.id], entries[b.id]), sides, list(entries.values()), main)
    outcome = _outcome((entries[a.id], entries[b.id]), sides, main)
    differs = _differs((entries[a.id], entries[b.id]), partings, main)
    return WhatChanged(
        compared=compared,
        a=a.id,
        b=b.id,
        picked=picked if differs else "",
        labels=column_labels((entries[a.id], entries[b.id]), main, goal) if differs else ["First", "Second"],
        headline=_headline(changes, partings) if differs else _no_difference(changes, partings),
        differs=differs,
        outcome=outcome,
        partings=partings,
        changes=changes,
        same=same,
        notes=notes,
    )


def _opened(ctx: Context, column: CompareColumn, notes: list[str]) -> list[RunFolder]:
    found = []
    for run in column.runs[:MAX_OPENED]:
        try:
            found.append(ctx.runs.get(run))
        except StepscopeError as error:  # deleted meanwhile, or damaged
            notes.append(str(error))
    if len(column.runs) > MAX_OPENED:
        notes.append(f"{column.label}: {MAX_OPENED} of {len(column.runs)} runs were read")
    return found


# -- outcomes --------------------------------------------------------------------------------------------------------


def _partings(sides: tuple[list[RunFolder], list[RunFolder]], main: str | None, notes: list[str]) -> list[Parting]:
    deadline = time.monotonic() + TIME_S
    shared = [set().union(*(folder.metrics() for folder in side)) for side in sides]
    names = [name for name in metrics_in_order(shared[0] & shared[1]) if _is_result(name)]
    if main in names:
        names.remove(main)
        names.insert(0, main)
    found: list[Parting] = []
    for name in names[:MAX_METRICS]:
        if time.monotonic() > deadline:
            break
        one = parting(name, *(_series(side, name) for side in sides))
        if one is not None:
            found.append(one)
    left = len(names) - len(found)
    if left > 0 and len(names) > MAX_METRICS:
        notes.append(f"curves: the first {len(found)} of {len(names)} metrics were compared")
    return sorted(found, key=lambda one: (one.step is None, one.step or 0, names.index(one.key)))


def _is_result(name: str) -> bool:
    """A measurement of the machine, a learning rate or an epoch counter says nothing about how the training went."""
    if name.removeprefix("watched/").startswith(_MACHINE):
        return False
    return name.rpartition("/")[2].lower() not in ("lr", "learning_rate", "epoch", "step", "global_step")


def _series(side: Sequence[RunFolder], name: str) -> list[Series]:
    found = []
    for folder in side:
        try:
            found.append(folder.series(name))
        except NotFound:  # this seed did not log it
            continue
    return found


def _outcome(
    entries: tuple[list[RunEntry], list[RunEntry]], sides: tuple[list[RunFolder], list[RunFolder]], main: str | None
) -> list[Outcome]:
    rows = [Outcome("status", *(_statuses(side) for side in entries))]
    errors = [_first(folder.standing.error for folder in side) for side in sides]
    if any(errors):
        rows.append(Outcome("error", *(error or "none" for error in errors)))
    if main is not None:
        rows.append(Outcome(f"last {main}", *(_mean_words(values_of(side, main, "last")) for side in entries)))
        steps = [values_of(side, main, "last_step") for side in entries]
        rows.append(Outcome("last step", *(_mean_words(side) for side in steps)))
    rows.append(Outcome("duration", *(_duration([entry.duration_s for entry in side]) for side in entries)))
    return rows


def _statuses(entries: Sequence[RunEntry]) -> str:
    counts = Counter(entry.status for entry in entries)
    if len(entries) == 1:
        return entries[0].status
    return ", ".join(f"{count} {status}" for status, count in counts.most_common())


def _first(values: object) -> str | None:
    return next((value for value in values if value), None)  # type: ignore[attr-defined]


def _mean_words(values: Sequence[float]) -> str:
    if not values:
        return "not logged"
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return "NaN" if math.isnan(values[0]) else "∞" if values[0] > 0 else "-∞"
    odd = f", {len(values) - len(finite)} not finite" if len(finite) < len(values) else ""
    if len(values) == 1:
        return f"{finite[0]:.4g}" if abs(finite[0]) < 1000 else f"{finite[0]:,.0f}"
    return f"{np.mean(finite):.4g} (mean of {len(finite)}{odd})"


def _duration(seconds: Sequence[float]) -> str:
    return duration(sum(seconds) / max(1, len(seconds)))


def _differs(entries: tuple[list[RunEntry], list[RunEntry]], partings: Sequence[Parting], main: str | None) -> bool:
    """Whether the outcomes differ beyond noise; also True if no curve can be compared."""
    broken = [any(is_broken(entry, main) for entry in side) for side in entries]
    if all(one.noise is None for one in partings) or broken[0] != broken[1]:
        return True
    return any(one.step is not None or one.a_lost != one.b_lost for one in partings)


def _no_difference(changes: Sequence[Change], partings: Sequence[Parting]) -> str:
    curves = "the one metric they share never diverges" if len(partings) == 1 else "none of the curves diverge"
    words = f"No difference beyond noise: {curves}."
    if not changes:
        return f"{words} Nothing that was recorded differs either."
    return f"{words} {counted(len(changes), 'recorded difference')} had no visible effect."


def _headline(changes: Sequence[Change], partings: Sequence[Parting]) -> str:
    """A summary in a sentence or two."""
    telling = [change for change in changes if change.likely == "likely"]
    rest = len(changes) - len(telling)
    if not changes:
        words = "Nothing that was recorded differs: same config, code, packages and machine. What remains is chance."
    elif not telling:
        words = f"{counted(len(changes), 'difference')}, none of which usually matters much."
    else:
        named = ", ".join(f"`{change.key}`" for change in telling[:3])
        more = f" and {len(telling) - 3} more" if len(telling) > 3 else ""
        words = f"Look first at {named}{more}" + (f"; {_less(rest)}." if rest else ".")
    first = next((one for one in partings if one.step is not None), None)
    if first is None:
        return words
    return f"{words} The curves diverge at step {first.step:,}, first in `{first.key}`."


def _less(rest: int) -> str:
    return "1 other difference matters less" if rest == 1 else f"{rest} other differences matter less"
