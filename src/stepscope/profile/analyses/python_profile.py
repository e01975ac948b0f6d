"""Python's part of a profile: what cProfile counted or a sampler saw, as a tree, by function and by line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.python.call_tree import call_tree
from stepscope.profile.python.prof_file import stats_in
from stepscope.profile.python.stats import ProfStats
from stepscope.records.profile import Check, Column, Sheet, Stack

if TYPE_CHECKING:
    from stepscope.profile.profile import Profile

_FUNCTION = Column(key="function", label="function", help="Its name.")
_PLACE = Column(key="place", label="where", unit="line", help="The file and line it begins at; none: it is in C.")
_SHARE = Column(
    key="share", label="share", unit="share", help="Its own time, of the own time of all functions.", sums=True
)


def _prof(profile: Profile, rank: int) -> ProfStats | None:
    raw = profile.read("prof", rank)
    return None if raw is None else stats_in(raw, f"the cProfile statistics of rank {rank}")


@analysis("python-profile", view="python", of="profile")
def python_profile(profile: Profile, rank: int) -> Stack | None:
    """The call tree of the Python code: from cProfile, else from the sampler."""
    stats = _prof(profile, rank)
    return profile.stacks(rank) if stats is None else call_tree(stats)


@analysis("python-samples", view="python", of="profile")
def python_samples(profile: Profile, rank: int) -> Stack | None:
    """The sampled call tree, where cProfile was at work too."""
    return None if profile.read("prof", rank) is None else profile.stacks(rank)


@analysis("python-profile-functions", view="python", of="profile")
def python_profile_functions(profile: Profile, rank: int) -> Sheet | None:
    """Python functions by the time they take."""
    stats = _prof(profile, rank)
    if stats is not None:
        return functions_of_prof(stats)
    stack = profile.stacks(rank)
    return None if stack is None else functions_of_stack(stack)


@analysis("python-profile-lines", view="python", of="profile")
def python_profile_lines(profile: Profile, rank: int) -> Sheet | None:
    """Source lines by the time spent in them, from the sampler."""
    stack = profile.stacks(rank)
    return None if stack is None or not stack.by_line else lines_of_stack(stack)


def functions_of_prof(stats: ProfStats, order: str = "time") -> Sheet:
    """One row a function, with the numbers of `pstats`, in any of its orders."""
    whole = stats.total_s
    rows: list[list[Any]] = []
    for (file, line, name), one in stats.sorted(order):
        calls = one.calls
        in_c = file == "~" and not line
        rows.append([
            name.strip("<>") if in_c else name,
            None if in_c else f"{file}:{line}",
            calls.total,
            calls.primitive,
            round(calls.own_s * 1e9),
            round(calls.total_s * 1e9),
            round(calls.own_s * 1e9 / calls.total) if calls.total else None,
            round(calls.total_s * 1e9 / calls.primitive) if calls.primitive else None,
            calls.own_s / whole if whole else None,
        ])  # fmt: skip
    return Sheet(
        id="python-profile-functions",
        title="Python functions",
        columns=[
            _FUNCTION,
            _PLACE,
            Column(key="calls", label="calls", unit="count", help="How often it was called.", sums=True),
            Column(
                key="primitive",
                label="primitive",
                unit="count",
                help="Calls that did not come from itself, directly or through others.",
                hidden=all(row[2] == row[3] for row in rows),
            ),
            Column(
                key="own", label="own", unit="ns", help="Time in the function itself (tottime in pstats).", sums=True
            ),
            Column(key="total", label="total", unit="ns", help="With all it called (cumtime in pstats)."),
            Column(key="own_per_call", label="own/call", unit="ns", help="Own time of one call.", hidden=True),
            Column(key="per_call", label="per call", unit="ns", help="Total time of one primitive call."),
            _SHARE,
        ],
        rows=rows,
        sort={"time": "own", "cumulative": "total", "calls": "calls", "pcalls": "primitive"}.get(order, ""),
        notes=["cProfile makes every call about a microsecond longer: many short calls look dearer than they are."],
    )


def functions_of_stack(stack: Stack) -> Sheet:
    """One row a function of a sampled tree; a function that calls itself counts once."""
    own = [0.0] * len(stack.names)
    total = [0.0] * len(stack.names)
    inside: list[frozenset[int]] = []
    for node, above in enumerate(stack.parent):
        name = stack.name[node]
        outer = inside[above] if above >= 0 else frozenset()
        inside.append(outer if name in outer else outer | {name})
        own[name] += stack.own[node]
        if name not in outer:
            total[name] += stack.total[node]
    whole = sum(own)
    rows: list[list[Any]] = [
        [
            stack.names[name].rpartition(" (")[0] or stack.names[name],
            f"{stack.files[name]}:{stack.lines[name]}" if stack.files[name] and stack.lines[name] else None,
            round(own[name]),
            round(total[name]),
            own[name] / whole if whole else None,
        ]
        for name in sorted(range(len(own)), key=lambda one: -own[one])
    ]
    roots = sum(total for total, above in zip(stack.total, stack.parent, strict=True) if above < 0)
    return Sheet(
        id="python-profile-functions",
        title="Python functions",
        columns=[
            _FUNCTION,
            _PLACE,
            Column(
                key="own",
                label="own",
                unit=stack.unit,
                help="Time in the function itself, and in C it called.",
                sums=True,
            ),
            Column(key="total", label="total", unit=stack.unit, help="With all it called."),
            _SHARE,
        ],
        rows=rows,
        sort="own",
        checks=[
            Check(
                name="own times sum to the whole",
                got=whole,
                expected=roots,
                unit=stack.unit,
                ok=abs(whole - roots) <= 1e-6 * max(roots, 1.0),
            )
        ],
        notes=stack.notes,
    )


def lines_of_stack(stack: Stack) -> Sheet:
    """One row a source line that was seen."""
    whole = sum(stack.own)
    rows: list[list[Any]] = []
    for index, line, own, total in sorted(stack.by_line, key=lambda row: (-row[2], -row[3])):
        name = int(index)
        function = stack.names[name].rpartition(" (")[0] or stack.names[name]
        place = f"{stack.files[name]}:{int(line)}"
        rows.append([place, function, round(own), round(total), own / whole if whole else None])
    return Sheet(
        id="python-profile-lines",
        title="Source lines",
        columns=[
            Column(key="place", label="line", unit="line", help="The file and line."),
            Column(key="function", label="function", help="The function it is in."),
            Column(
                key="own", label="own", unit="ns", help="Time in the line itself, and in C that it called.", sums=True
            ),
            Column(key="total", label="total", unit="ns", help="With the Python functions that it called."),
            Column(key="share", label="share", unit="share", help="Its own time, of all.", sums=True),
        ],
        rows=rows,
        sort="own",
        notes=stack.notes,
    )
