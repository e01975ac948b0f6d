"""Take some functions out of a caller graph: our own hooks, which the program without us would not have called."""

from __future__ import annotations

from collections.abc import Callable

from stepscope.profile.python.stats import Calls, Function, FunctionStats, ProfStats

Test = Callable[[Function], bool]


def without(stats: ProfStats, is_unwanted: Test, is_helper: Test = lambda function: False) -> ProfStats:
    """The same without these functions: what they called was called by their callers, in proportion to their calls.

    Helpers (`time.perf_counter`, `dict.get`) that an unwanted function has called go with it: those calls are
    subtracted, and helpers that nobody else has called are gone.

    >>> one = (1, 1, 0.0, 2.0)
    >>> stats = ProfStats.of({("a", 1, "f"): (*one, {}), ("us", 1, "hook"): (*one, {("a", 1, "f"): one}),
    ...                       ("a", 2, "g"): (*one, {("us", 1, "hook"): one})})
    >>> found = without(stats, lambda function: function[0] == "us")
    >>> list(found.functions[("a", 2, "g")].callers)
    [('a', 1, 'f')]
    """
    unwanted = {function for function in stats.functions if is_unwanted(function)}
    if not unwanted:
        return stats
    gone = _with_helpers(stats, unwanted, is_helper)
    callers = _Callers(stats, unwanted)
    kept: dict[Function, FunctionStats] = {}
    for function, one in stats.functions.items():
        if function in gone:
            continue
        calls, edges = one.calls, {caller: edge for caller, edge in one.callers.items() if caller not in gone}
        for ours in one.callers.keys() & gone:
            edge = one.callers[ours]
            if ours not in unwanted or is_helper(function):
                calls = _less(calls, edge)
                continue
            for caller, part in callers.of(ours).items():
                edges[caller] = _added(edges.get(caller), edge, part)
        kept[function] = FunctionStats(calls, edges)
    return ProfStats(kept, stats.counts_only)


def _with_helpers(stats: ProfStats, unwanted: set[Function], is_helper: Test) -> set[Function]:
    """The unwanted functions, and the helpers that only they have called."""
    gone = set(unwanted)
    helpers = [(function, one) for function, one in stats.functions.items() if one.callers and is_helper(function)]
    while True:
        fresh = {function for function, one in helpers if function not in gone and one.callers.keys() <= gone}
        if not fresh:
            return gone
        gone |= fresh


class _Callers:
    """Who has called an unwanted function in the end, by part, through other unwanted ones."""

    def __init__(self, stats: ProfStats, unwanted: set[Function]) -> None:
        self._stats = stats
        self._unwanted = unwanted
        self._known: dict[Function, dict[Function, float]] = {}

    def of(self, function: Function, path: frozenset[Function] = frozenset()) -> dict[Function, float]:
        if function in self._known:
            return self._known[function]
        path = path | {function}
        edges = {c: e.total for c, e in self._stats.functions[function].callers.items() if c not in path}
        whole = sum(edges.values()) or 1
        found: dict[Function, float] = {}
        for caller, calls in edges.items():
            above = self.of(caller, path) if caller in self._unwanted else {caller: 1.0}
            for one, part in above.items():
                found[one] = found.get(one, 0.0) + part * calls / whole
        self._known[function] = found
        return found


def _added(known: Calls | None, edge: Calls, part: float) -> Calls:
    before = known or Calls(0, 0, 0.0, 0.0)
    return Calls(
        before.primitive + round(edge.primitive * part),
        before.total + max(1, round(edge.total * part)),
        before.own_s + edge.own_s * part,
        before.total_s + edge.total_s * part,
    )


def _less(calls: Calls, edge: Calls) -> Calls:
    return Calls(
        max(calls.primitive - edge.primitive, 0),
        max(calls.total - edge.total, 0),
        max(calls.own_s - edge.own_s, 0.0),
        max(calls.total_s - edge.total_s, 0.0),
    )
