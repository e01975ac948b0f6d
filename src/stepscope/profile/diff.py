"""Two profiles beside each other: what got slower, where, and whether that is more than noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from stepscope.common.units import time_text
from stepscope.errors import UsageError
from stepscope.profile.analyses.analysis import all_analyses
from stepscope.profile.noise import Change, changes
from stepscope.profile.per_step import PerStep, kernels_per_step, operators_per_step, typical_steps
from stepscope.profile.profile import Profile
from stepscope.profile.trace.trace import Trace
from stepscope.records.profile import Column, ProfileDiff, Sheet, StepParts

_WORTH = 0.005
"""A change smaller than this share of a step is of no interest, however certain."""
_COLUMNS = [
    Column(key="change_ns", label="change", unit="ns", help="What a step takes more of it in B than in A.", sums=True),
    Column(key="ratio", label="B / A", unit="factor", help="Above 1: slower in B."),
    Column(key="a_ns", label="A", unit="ns", help="A step's mean in A.", sums=True),
    Column(key="b_ns", label="B", unit="ns", help="A step's mean in B.", sums=True),
    Column(key="noise_ns", label="noise", unit="ns", help="The change is known to this, by how steps differ (99.9%)."),
    Column(
        key="clear",
        label="beyond noise",
        unit="flag",
        help="The change is larger than the noise, and than half a percent of the step.",
    ),
]
_CALLS = [
    Column(key="calls_a", label="calls A", unit="number", help="A step in A."),
    Column(key="calls_b", label="calls B", unit="number", help="A step in B."),
]


class Changed(NamedTuple):
    """A row of every table here: the columns of `_COLUMNS` behind a name."""

    name: str
    by_ns: int
    ratio: float | None
    a_ns: int
    b_ns: int
    noise_ns: int | None
    is_clear: bool

    @property
    def size_ns(self) -> int:
        return abs(self.by_ns)


def diff_profiles(a: Profile, b: Profile, *, names: tuple[str, str] = ("A", "B"), rank: int = 0) -> ProfileDiff:
    """What a step takes in `b` beside `a`: by phase, part, operator, kernel, module and line."""
    sheets = list(_step_sheets(a, b, rank))
    first, second = a.trace(rank), b.trace(rank)
    if first is not None and second is not None and first.steps and second.steps:
        sheets += list(_name_sheets(first, second))
        sheets += list(_place_sheets(a, b, rank))
    if not sheets:
        raise UsageError(
            f"{names[0]} and {names[1]} have nothing in common to compare: one has no steps. "
            "Profile both with: stepscope profile train.py"
        )
    return _summed_up(sheets, names, _steps_of(a, rank), _steps_of(b, rank))


# -- the whole step -------------------------------------------------------------------------------------------------


def _parts(profile: Profile, id: str, rank: int) -> StepParts | None:
    if id == "simple":
        return profile.phases(rank)
    analysis = all_analyses().get(id)
    found = None if analysis is None else analysis(profile, rank)
    return found if isinstance(found, StepParts) else None


def _steps_of(profile: Profile, rank: int) -> int:
    found = _parts(profile, "simple", rank) or _parts(profile, "steps", rank)
    return 0 if found is None else len(found.steps)


def _step_sheets(a: Profile, b: Profile, rank: int) -> Iterator[Sheet]:
    for id, title in (("simple", "Phases of all steps"), ("phases", "Phases"), ("steps", "Parts of the step")):
        first, second = _parts(a, id, rank), _parts(b, id, rank)
        if first is None or second is None or not first.steps or not second.steps:
            continue
        keys = list(dict.fromkeys(part.key for one in (first, second) for part in one.parts))
        labels = {part.key: part.label for one in (second, first) for part in one.parts}
        left, right = _table(first, keys), _table(second, keys)
        found = changes(left, right)
        *rows, whole = [
            _changed(labels.get(key, "the whole step"), change) for key, change in zip([*keys, ""], found, strict=True)
        ]
        columns = [Column(key="part", label="part"), *(_plain(column) for column in _COLUMNS)]
        shown = [whole, *_largest_first(rows)]
        yield Sheet(id=f"diff-{id}", title=title, columns=columns, rows=[list(row) for row in shown])


def _plain(column: Column) -> Column:
    """Without a total: the whole step is a row of its own."""
    return Column(key=column.key, label=column.label, unit=column.unit, help=column.help)


def _table(parts: StepParts, keys: list[str]) -> Any:
    """A row a typical step, a column a part, and the whole step last."""
    skip = 1 if parts.first_is_odd else 0
    at = {part.key: index for index, part in enumerate(parts.parts)}
    table = np.array(parts.parts_ns, np.float64)[skip:]
    none = np.zeros(len(table))
    columns = [table[:, at[key]] if key in at else none for key in keys]
    return np.stack([*columns, np.array(parts.wall_ns, np.float64)[skip:]], axis=1)


# -- by name --------------------------------------------------------------------------------------------------------


def _name_sheets(a: Trace, b: Trace) -> Iterator[Sheet]:
    kinds: list[tuple[str, str, str, Callable[[Trace], PerStep]]] = [
        ("operators", "Operators, self time on the host", "operator", lambda t: operators_per_step(t, device=False))
    ]
    if a.has_device or b.has_device:
        kinds += [
            (
                "operators-device",
                "Operators, time on the device",
                "operator",
                lambda t: operators_per_step(t, device=True),
            ),
            ("kernels", "Kernels", "kernel", kernels_per_step),
        ]
    for id, title, what, measure in kinds:
        yield _name_sheet(f"diff-{id}", title, what, measure(a), measure(b), _WORTH * _typical(a))


def _typical(trace: Trace) -> float:
    return float(np.mean([trace.steps[at].wall_ns for at in typical_steps(trace)]))


def _name_sheet(id: str, title: str, what: str, a: PerStep, b: PerStep, worth: float) -> Sheet:
    names = list(dict.fromkeys([*a.names, *b.names]))
    left, right = _spread(a, names), _spread(b, names)
    calls = [dict(zip(one.names, one.calls.tolist(), strict=True)) for one in (a, b)]
    found = [_changed(name, change, worth) for name, change in zip(names, changes(left, right), strict=True)]
    rows = [[*row, *(each.get(row.name, 0.0) for each in calls)] for row in _largest_first(found)]
    new, gone = len(set(b.names) - set(a.names)), len(set(a.names) - set(b.names))
    notes = [f"{new} only in B, {gone} only in A"] if new or gone else []
    return Sheet(
        id=id,
        title=title,
        columns=[Column(key=what, label=what), *_COLUMNS, *_CALLS],
        rows=rows,
        sort="change_ns",
        notes=notes,
    )


def _spread(one: PerStep, names: list[str]) -> Any:
    at = {name: index for index, name in enumerate(names)}
    table = np.zeros((len(one.ns), len(names)))
    table[:, [at[name] for name in one.names]] = one.ns
    return table


# -- by place -------------------------------------------------------------------------------------------------------


def _place_sheets(a: Profile, b: Profile, rank: int) -> Iterator[Sheet]:
    """Modules and lines: sums over the profile, divided by its steps. Single steps are not known, nor is the noise."""
    for id, title in (("modules", "Modules"), ("lines", "Source lines")):
        analysis = all_analyses().get(id)
        pair = [None, None] if analysis is None else [analysis(one, rank) for one in (a, b)]
        first, second = pair
        if not isinstance(first, Sheet) or not isinstance(second, Sheet):
            continue
        left, right = _per_step_of(first, a, rank), _per_step_of(second, b, rank)
        rows = [
            _changed(name, Change(left.get(name, 0.0), right.get(name, 0.0), None))
            for name in dict.fromkeys([*left, *right])
        ]
        head = first.columns[0]
        yield Sheet(
            id=f"diff-{id}",
            title=title,
            columns=[Column(key=head.key, label=head.label, unit=head.unit), *(_plain(c) for c in _COLUMNS[:4])],
            rows=[list(row[:5]) for row in _largest_first(rows)],
            sort="change_ns",
            notes=["means over all steps of each profile; how single steps differ is not known here"],
        )


def _per_step_of(sheet: Sheet, profile: Profile, rank: int) -> dict[str, float]:
    """Of each row its main time a step: the first of the columns that hold a whole time."""
    keys = [column.key for column in sheet.columns]
    wanted: list[str] = [key for key in ("op_ns", "total_ns", "forward_ns") if key in keys]
    trace = profile.trace(rank)
    steps = max(len(trace.steps) if trace is not None else 1, 1)
    if not wanted:
        times = [c.key for c in sheet.columns if c.unit == "ns"]
        wanted = times[:1]
    at = [keys.index(key) for key in wanted[:1]]
    found: dict[str, float] = {}
    for name, *values in sheet.rows:
        time_ns = sum(float(values[i - 1] or 0) for i in at)
        found[str(name)] = found.get(str(name), 0.0) + time_ns / steps
    return found


# -- summing up -----------------------------------------------------------------------------------------------------


def _changed(name: str, change: Change, worth: float = 0.0) -> Changed:
    return Changed(
        name,
        by_ns=round(change.by),
        ratio=change.b / change.a if change.a else None,
        a_ns=round(change.a),
        b_ns=round(change.b),
        noise_ns=None if change.noise is None else round(change.noise),
        is_clear=change.is_clear and abs(change.by) >= worth,
    )


def _largest_first(rows: list[Changed]) -> list[Changed]:
    return sorted(rows, key=lambda row: -row.size_ns)


def _summed_up(sheets: list[Sheet], names: tuple[str, str], steps_a: int, steps_b: int) -> ProfileDiff:
    whole = Changed(*sheets[0].rows[0])
    notes = [
        f"{steps_a} steps of {names[0]}, {steps_b} of {names[1]}; noise is how steps of one run differ, "
        "and two runs of the same can differ by more: repeat them to be sure"
    ]
    if whole.noise_ns is None:
        notes.append("with one step each nothing can be said of noise: profile more steps")
    times = f"{time_text(whole.b_ns / 1e9)} in {names[1]}, {time_text(whole.a_ns / 1e9)} in {names[0]}"
    known = "" if whole.noise_ns is None else f", known to {time_text(whole.noise_ns / 1e9)}"
    if not whole.is_clear or whole.size_ns < _WORTH * whole.a_ns:
        headline = f"no clear difference: a step takes {times}{known}"
        return ProfileDiff(a=names[0], b=names[1], headline=headline, sheets=sheets, notes=notes)
    sign = "+" if whole.by_ns > 0 else "-"
    headline = (
        f"{names[1]} is {_speed(whole)}: a step takes {times} "
        f"({sign}{time_text(whole.size_ns / 1e9)}{known}){_blame(sheets, whole)}"
    )
    return ProfileDiff(a=names[0], b=names[1], headline=headline, faster=whole.by_ns < 0, sheets=sheets, notes=notes)


def _speed(whole: Changed) -> str:
    if whole.by_ns > 0:
        return f"{whole.ratio:.2f}x slower"
    return f"{whole.a_ns / whole.b_ns:.2f}x faster" if whole.b_ns else "faster"


def _blame(sheets: list[Sheet], whole: Changed) -> str:
    """The largest clear changes in the same direction: of a phase, and of a name."""
    said = []
    phases = sheets[0].id  # the best there is: of all steps, or of those in the windows
    for sheet in sheets:
        if sheet.id not in (phases, "diff-operators", "diff-kernels"):
            continue
        rows = [Changed(*row[: len(Changed._fields)]) for row in sheet.rows]
        if sheet.columns[0].key == "part":
            rows = rows[1:]
        worst = next((row for row in rows if row.is_clear and _is_cause(row, whole)), None)
        if worst is not None:
            short = worst.name if len(worst.name) <= 60 else worst.name[:57] + "..."
            said.append(f"{short} {'+' if worst.by_ns > 0 else '-'}{time_text(worst.size_ns / 1e9)}")
    return ": " + ", ".join(dict.fromkeys(said)) if said else ""


def _is_cause(row: Changed, whole: Changed) -> bool:
    return row.by_ns * whole.by_ns > 0 and row.size_ns > _WORTH * whole.a_ns
