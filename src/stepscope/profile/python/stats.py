"""What cProfile measured: for every function its calls and times, and who called it. The same numbers as `pstats`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stepscope.errors import UsageError

Function = tuple[str, int, str]
"""(file, first line, name); a function written in C is ("~", 0, "<built-in method time.sleep>")."""


@dataclass(frozen=True)
class Calls:
    """Of a function, or of one caller's share in it. Times in seconds, as cProfile keeps them."""

    primitive: int
    """Calls that were not made by the function itself, directly or through others."""
    total: int
    own_s: float
    total_s: float


@dataclass(frozen=True)
class FunctionStats:
    calls: Calls
    callers: Mapping[Function, Calls] = field(default_factory=dict)


@dataclass(frozen=True)
class ProfStats:
    """A profile of cProfile or of `profile`, by function."""

    functions: Mapping[Function, FunctionStats]
    counts_only: bool = False
    """The callers are known by their number only (the old `profile` module writes it so)."""

    @property
    def total_s(self) -> float:
        """What `pstats` calls the total time: the own time of all functions."""
        return sum(one.calls.own_s for one in self.functions.values())

    @property
    def calls(self) -> int:
        return sum(one.calls.total for one in self.functions.values())

    def sorted(self, order: str = "cumulative") -> list[tuple[Function, FunctionStats]]:
        """The functions in one of the orders of `pstats`; ties stand as `pstats` has them."""
        keys = SORT_ORDERS[sort_order(order)]
        rows = [(_keys_of(function, one), function, one) for function, one in self.functions.items()]
        for name, reverse in reversed(keys):  # a stable sort by the last key first
            rows.sort(key=lambda row, name=name: row[0][name], reverse=reverse)  # type: ignore[misc]
        return [(function, one) for _, function, one in rows]

    @classmethod
    def of(cls, stats: Mapping[Function, Any]) -> ProfStats:
        """From the dict that `cProfile.Profile().stats` and `pstats.Stats().stats` hold."""
        found: dict[Function, FunctionStats] = {}
        counts_only = False
        for function, (primitive, total, own, cumulative, callers) in stats.items():
            edges: dict[Function, Calls] = {}
            for caller, edge in callers.items():
                if isinstance(edge, tuple):  # cProfile has them as (total, primitive): pstats swaps nothing either
                    edges[caller] = Calls(edge[1], edge[0], edge[2], edge[3])
                else:
                    counts_only = True
                    edges[caller] = Calls(edge, edge, 0.0, 0.0)
            found[function] = FunctionStats(Calls(primitive, total, own, cumulative), edges)
        return cls(found, counts_only)

    def as_dict(self) -> dict[Function, Any]:
        """The dict that `marshal` writes to a `.prof` file."""
        return {
            function: (
                one.calls.primitive,
                one.calls.total,
                one.calls.own_s,
                one.calls.total_s,
                {
                    caller: edge.total if self.counts_only else (edge.total, edge.primitive, edge.own_s, edge.total_s)
                    for caller, edge in one.callers.items()
                },
            )
            for function, one in self.functions.items()
        }


def _keys_of(function: Function, one: FunctionStats) -> dict[str, Any]:
    file, line, name = function
    return {
        "calls": one.calls.total,
        "pcalls": one.calls.primitive,
        "time": one.calls.own_s,
        "cumulative": one.calls.total_s,
        "filename": file,
        "line": line,
        "name": name,
        "stdname": _standard_name(function),
    }


def _standard_name(function: Function) -> str:
    """As `pstats` writes a function in its tables.

    >>> _standard_name(("train.py", 12, "step")), _standard_name(("~", 0, "<built-in method time.sleep>"))
    ('train.py:12(step)', '{built-in method time.sleep}')
    """
    file, line, name = function
    if (file, line) == ("~", 0):
        return f"{{{name[1:-1]}}}" if name.startswith("<") and name.endswith(">") else name
    return f"{file}:{line}({name})"


SORT_ORDERS: dict[str, tuple[tuple[str, bool], ...]] = {
    "calls": (("calls", True),),
    "cumulative": (("cumulative", True),),
    "filename": (("filename", False),),
    "line": (("line", False),),
    "name": (("name", False),),
    "nfl": (("name", False), ("filename", False), ("line", False)),
    "pcalls": (("pcalls", True),),
    "stdname": (("stdname", False),),
    "time": (("time", True),),
}
"""The sort orders of `pstats`: by what, and whether the largest comes first."""

_OTHER_NAMES = {"ncalls": "calls", "cumtime": "cumulative", "file": "filename", "module": "filename",
                "tottime": "time", "own": "time", "total": "cumulative"}  # fmt: skip


def sort_order(name: str) -> str:
    """The order a user means: any of the names of `pstats`, and ours.

    >>> sort_order("tottime"), sort_order("cumulative"), sort_order("own")
    ('time', 'cumulative', 'time')
    """
    found = _OTHER_NAMES.get(name, name)
    if found not in SORT_ORDERS:
        raise UsageError(f"there is no sort order {name!r}; there are {', '.join([*SORT_ORDERS, *_OTHER_NAMES])}")
    return found
