"""cProfile's numbers: the same as `pstats` has them, in all its orders."""

from __future__ import annotations

import pstats
from io import StringIO

import pytest

from stepscope.errors import UsageError
from stepscope.profile.python.cprofile import CProfiler
from stepscope.profile.python.stats import SORT_ORDERS, Calls, ProfStats, sort_order
from stepscope.profile.python.without import without


def fib(n: int) -> int:
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def is_even(n: int) -> bool:
    return n == 0 or is_odd(n - 1)


def is_odd(n: int) -> bool:
    return n != 0 and is_even(n - 1)


def work() -> None:
    fib(12)
    is_even(20)
    sorted(range(2000), key=lambda v: -v)


@pytest.fixture
def stats() -> ProfStats:
    profiler = CProfiler()
    profiler.start()
    work()
    profiler.stop()
    return profiler.result()


def in_pstats(stats: ProfStats) -> pstats.Stats:
    class Given:
        def create_stats(self) -> None:
            self.stats = stats.as_dict()

    return pstats.Stats(Given(), stream=StringIO())


def test_counts_are_exact(stats: ProfStats) -> None:
    of_fib = next(one for (_, _, name), one in stats.functions.items() if name == "fib")
    assert (of_fib.calls.primitive, of_fib.calls.total) == (1, 465)
    (even,) = [one for (_, _, name), one in stats.functions.items() if name == "is_even"]
    assert (even.calls.primitive, even.calls.total) == (1, 11)


def test_totals_are_those_of_pstats(stats: ProfStats) -> None:
    theirs = in_pstats(stats)
    assert stats.total_s == pytest.approx(theirs.total_tt, abs=0)  # type: ignore[attr-defined]
    assert stats.calls == theirs.total_calls  # type: ignore[attr-defined]
    assert ProfStats.of(theirs.stats) == stats  # type: ignore[attr-defined]


@pytest.mark.parametrize("order", SORT_ORDERS)
def test_every_order_is_that_of_pstats(stats: ProfStats, order: str) -> None:
    theirs = in_pstats(stats).sort_stats(order)
    keys = {"calls": 1, "pcalls": 0, "time": 2, "cumulative": 3}
    ours = [function for function, _ in stats.sorted(order)]
    if order in keys:  # ties may stand either way: the values must be in the same order
        sequence = [theirs.stats[one][keys[order]] for one in theirs.fcn_list]  # type: ignore[attr-defined]
        assert [theirs.stats[one][keys[order]] for one in ours] == sequence  # type: ignore[attr-defined]
    elif order in ("nfl", "stdname"):
        assert ours == theirs.fcn_list  # type: ignore[attr-defined]
    else:
        at = {"filename": 0, "line": 1, "name": 2}[order]
        assert [one[at] for one in ours] == [one[at] for one in theirs.fcn_list]  # type: ignore[attr-defined]


def test_an_unknown_order_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match="no sort order 'speed'; there are calls, cumulative"):
        sort_order("speed")


def test_a_profiler_started_twice_adds_up() -> None:
    profiler = CProfiler()
    for _ in range(2):
        profiler.start()
        fib(3)
        profiler.stop()
    (found,) = [one for (_, _, name), one in profiler.result().functions.items() if name == "fib"]
    assert found.calls.total == 10


def test_nothing_of_the_profiler_itself_is_in_the_result(stats: ProfStats) -> None:
    assert not [one for one in stats.functions if "lsprof" in one[2] or one[0].endswith("cprofile.py")]


def test_functions_that_are_taken_out_are_looked_through() -> None:
    main, other = ("m.py", 1, "main"), ("m.py", 2, "other")
    hook, inner, work = ("us.py", 1, "hook"), ("us.py", 2, "inner"), ("m.py", 3, "work")
    stats = ProfStats.of({
        main: (1, 1, 1.0, 5.0, {}),
        other: (1, 1, 1.0, 2.0, {}),
        hook: (4, 4, 0.1, 5.0, {main: (3, 3, 0.1, 4.0), other: (1, 1, 0.0, 1.0)}),
        inner: (4, 4, 0.1, 5.0, {hook: (4, 4, 0.1, 5.0)}),
        work: (5, 5, 5.0, 5.0, {inner: (4, 4, 4.0, 4.0), main: (1, 1, 1.0, 1.0)}),
    })  # fmt: skip
    found = without(stats, lambda function: function[0] == "us.py")
    assert set(found.functions) == {main, other, work}
    assert found.functions[work].callers == {main: Calls(4, 4, 4.0, 4.0), other: Calls(1, 1, 1.0, 1.0)}
    assert found.functions[work].calls == stats.functions[work].calls


def test_what_a_hook_calls_for_itself_goes_with_it() -> None:
    main, hook, work = ("m.py", 1, "main"), ("us.py", 1, "hook"), ("m.py", 3, "work")
    clock, get, psutil = ("~", 0, "<clock>"), ("~", 0, "<get>"), ("psutil.py", 5, "memory")
    stats = ProfStats.of({
        main: (1, 1, 1.0, 9.0, {}),
        hook: (2, 2, 0.5, 6.0, {main: (2, 2, 0.5, 6.0)}),
        work: (2, 2, 3.0, 3.0, {hook: (2, 2, 3.0, 3.0)}),
        psutil: (1, 1, 0.2, 1.2, {hook: (1, 1, 0.2, 1.2)}),
        clock: (5, 5, 1.0, 1.0, {psutil: (5, 5, 1.0, 1.0)}),
        get: (7, 7, 0.7, 0.7, {hook: (4, 4, 0.4, 0.4), main: (3, 3, 0.3, 0.3)}),
    })  # fmt: skip
    found = without(stats, lambda function: function[0] == "us.py", lambda function: function[0] in ("~", "psutil.py"))
    assert set(found.functions) == {main, work, get}
    assert (found.functions[get].calls.total, round(found.functions[get].calls.own_s, 9)) == (3, 0.3)
    assert found.functions[get].callers == {main: Calls(3, 3, 0.3, 0.3)}
    assert found.functions[work].callers == {main: Calls(2, 2, 3.0, 3.0)}
