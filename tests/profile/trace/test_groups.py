from __future__ import annotations

import numpy as np

from stepscope.profile.trace.groups import group, index_of


def test_groups_rows_of_several_columns() -> None:
    found = group(np.array([7, 7, 1, 7]), np.array([-1, 4, -1, -1]))
    assert found.counts.tolist() == [1, 2, 1]
    assert found.sums(np.array([10, 20, 30, 40])).tolist() == [30, 50, 20]
    assert found.least(np.array([10, 20, 30, 40])).tolist() == [30, 10, 20]
    assert found.most(np.array([10, 20, 30, 40])).tolist() == [30, 40, 20]


def test_many_wide_columns_do_not_run_over() -> None:
    wide = np.array([2**31 - 2, 5, 2**31 - 2])
    found = group(wide, wide, wide)
    assert found.counts.tolist() == [1, 2]


def test_counting_gives_what_sorting_gives() -> None:
    codes = np.array([5, 2, 5, 9])
    found = index_of(codes, 10)
    assert codes[found.first].tolist() == [2, 5, 9]
    assert found.counts.tolist() == [1, 2, 1]


def test_the_value_with_most_weight_leads_its_group() -> None:
    found = index_of(np.array([0, 0, 0, 1]), 2)
    assert found.leading(np.array([8, 9, 9, -1]), np.array([5, 3, 3, 1])).tolist() == [9, -1]
