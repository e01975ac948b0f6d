"""Take some functions out of a caller graph: our own hooks, which the program without us would not have called."""

from __future__ import annotations

from collections.abc import Callable

from stepscope.profile.python.stats import Calls, Function, FunctionStats, ProfStats

__all__ = ["without"]


def without(stats: ProfStats, is_unwanted: Callable[[Function], bool]) -> ProfStats:
    """The same without these functions: what they called was called by their callers, in proportion to their calls.

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
    shares: dict[Function, dict[Function, float]] = {}

    def callers_of(function: Function, path: frozenset[Function]) -> dict[Function, float]:
        """Who called an unwanted function in the end, by part."""
        if function in shares:
            return shares[function]
        edges = {c: e.total for c, e in stats.functions[function].callers.items() if c not in path}
        whole, found = sum(edges.values()) or 1, dict[Function, float]()
        for caller, calls in edges.items():
            above = callers_of(caller, path | {caller}) if caller in unwanted else {caller: 1.0}
            for one, part in above.items():
                found[one] = found.get(one, 0.0) + part * calls / whole
        shares[function] = found
        return found

    kept: dict[Function, FunctionStats] = {}
    for function, one in stats.functions.items():
        if function in unwanted:
            continue
        callers = {caller: edge for caller, edge in one.callers.items() if caller not in unwanted}
        for ours in one.callers.keys() & unwanted:
            edge = one.callers[ours]
            for caller, part in callers_of(ours, frozenset({ours})).items():
                callers[caller] = _added(callers.get(caller), edge, part)
        kept[function] = FunctionStats(one.calls, callers)
    return ProfStats(kept, stats.counts_only)


def _added(known: Calls | None, edge: Calls, part: float) -> Calls:
    before = known or Calls(0, 0, 0.0, 0.0)
    return Calls(
        before.primitive + round(edge.primitive * part),
        before.total + max(1, round(edge.total * part)),
        before.own_s + edge.own_s * part,
        before.total_s + edge.total_s * part,
    )
