"""The tests of a comparison against tables, against scipy where it is there, and against counting by hand."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from stepscope.views.compare.statistics import (
    bootstrap_interval,
    hedges_g,
    holm,
    permutation_p,
    student_p,
    student_t,
    welch,
)

# Two-sided 5% and 1% points of Student's t, from the tables in any textbook.
TABLE = {1: (12.706, 63.657), 2: (4.303, 9.925), 4: (2.776, 4.604), 10: (2.228, 3.169), 30: (2.042, 2.750)}


@pytest.mark.parametrize("df", TABLE)
def test_student_agrees_with_the_printed_tables(df: int) -> None:
    five, one = TABLE[df]
    assert student_p(five, df) == pytest.approx(0.05, rel=1e-3)
    assert student_p(-one, df) == pytest.approx(0.01, rel=1e-3)
    assert student_t(0.975, df) == pytest.approx(five, abs=6e-4)


def test_student_in_its_closed_forms_and_at_its_ends() -> None:
    for t in (0.0, 0.3, 1.0, 7.5):
        assert student_p(t, 1) == pytest.approx(1 - 2 / math.pi * math.atan(t))  # Cauchy
        assert student_p(t, 2) == pytest.approx(1 - t / math.sqrt(2 + t * t))
    assert student_p(0.0, 5) == 1.0
    assert 0 <= student_p(1e200, 3) < 1e-12
    assert student_p(1.96, 1e6) == pytest.approx(0.05, abs=1e-4)  # the normal distribution


def test_welch_agrees_with_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(5)
    for n, m, shift, scale in ((2, 2, 0.0, 1.0), (3, 5, 1.0, 3.0), (8, 4, -2.0, 0.1), (40, 30, 0.2, 1.0)):
        a, b = rng.normal(size=n).tolist(), rng.normal(shift, scale, m).tolist()
        found = welch(a, b)
        expected = stats.ttest_ind(b, a, equal_var=False)
        interval = expected.confidence_interval(0.95)
        assert found is not None
        assert (found.t, found.df, found.p) == pytest.approx((expected.statistic, expected.df, expected.pvalue))
        assert found.interval() == pytest.approx((interval.low, interval.high))


def test_there_is_no_test_with_one_run_or_without_spread() -> None:
    assert welch([1.0], [2.0, 3.0]) is None
    assert welch([1.0, 1.0], [2.0, 2.0]) is None
    assert welch([1e300, -1e300], [1.0, 2.0]) is None  # the variance is more than a float holds
    assert bootstrap_interval([1.0], [2.0, 3.0]) is None
    assert hedges_g([1.0, 1.0], [1.0, 1.0]) is None


def test_tiny_values_are_tested_like_large_ones() -> None:
    small, large = welch([1e-120, 2e-120, 3e-120], [4e-120, 5e-120, 7e-120]), welch([1, 2, 3], [4, 5, 7])
    assert small is not None
    assert large is not None
    assert (small.t, small.df, small.p) == pytest.approx((large.t, large.df, large.p))


def test_the_permutation_test_counts_every_deal() -> None:
    a, b = [0.1, 0.5, 0.2], [0.4, 0.9, 0.8, 0.7]
    both = a + b
    seen = abs(np.mean(b) - np.mean(a))
    apart = []
    for chosen in combinations(range(7), 3):
        left = [both[at] for at in chosen]
        right = [both[at] for at in range(7) if at not in chosen]
        apart.append(abs(np.mean(right) - np.mean(left)))
    expected = sum(one >= seen - 1e-12 for one in apart) / len(apart)
    assert permutation_p(a, b) == (pytest.approx(expected), 35, True)


def test_many_runs_are_dealt_by_lot_and_always_the_same() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=15).tolist(), rng.normal(1.0, 1.0, 15).tolist()
    found = permutation_p(a, b)
    t = welch(a, b)
    assert found is not None
    assert t is not None
    assert found == permutation_p(a, b)
    assert found[1:] == (20_000, False)
    assert found[0] == pytest.approx(t.p, abs=0.02)


def test_the_bootstrap_holds_the_difference_and_is_repeatable() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=40).tolist(), rng.normal(0.5, 1.0, 40).tolist()
    interval, t = bootstrap_interval(a, b), welch(a, b)
    assert interval is not None
    assert t is not None
    assert interval == bootstrap_interval(a, b)
    assert interval == pytest.approx(t.interval(), abs=0.08)


def test_holm_never_lowers_a_p_value_and_keeps_their_order() -> None:
    assert holm([0.01, 0.02, 0.03, 0.04]) == [pytest.approx(0.04), pytest.approx(0.06), pytest.approx(0.06), 0.06]
    assert holm([None, 0.9, 0.8]) == [None, 1.0, 1.0]
    assert holm([]) == []


def test_hedges_g_is_cohens_d_with_its_correction() -> None:
    a, b = [1.0, 2.0, 3.0], [3.0, 4.0, 5.0]
    assert hedges_g(a, b) == pytest.approx(2.0 * (1 - 3 / (4 * 4 - 1)))
