"""Every step by phase: exact while it is short, thinned out when it is long, odd steps set apart."""

from __future__ import annotations

import random

import numpy as np

from stepscope.profile.collect.phases import PHASES, PhaseTable
from stepscope.profile.typical import typical_rows


def test_parts_sum_to_the_step() -> None:
    table, draw = PhaseTable(), random.Random(0)
    for step in range(100):
        table.add(step, {phase: draw.random() / 100 for phase in PHASES})
    parts = table.result()
    assert parts.steps == list(range(100))
    assert [sum(row) for row in parts.parts_ns] == parts.wall_ns
    rows = table.rows()
    typical = rows[typical_rows(parts.wall_ns, parts.first_is_odd)]
    assert (len(typical), np.allclose(np.array(parts.typical_ns), typical.mean(0) * 1e9, atol=1)) == (64, True)
    assert parts.p90_ns == round(float(np.percentile(np.array(parts.wall_ns), 90)))


def test_a_long_run_stays_small_and_keeps_its_shares() -> None:
    table = PhaseTable(kept=500)
    for step in range(20_000):
        table.add(step, {"data": 0.001 * (1 + step % 3), "forward": 0.002})
    assert len(table) <= 500
    parts = table.result()
    assert parts.steps[:20] == list(range(20))
    assert parts.steps[-1] > 19_900
    assert abs(parts.typical_ns[0] / 2_000_000 - 1) < 0.05
    assert "of 20000 steps" in parts.notes[0]


def test_the_first_step_and_outliers_are_not_typical() -> None:
    table = PhaseTable()
    for step in range(30):
        table.add(step, {"forward": 0.5 if step == 0 else 0.1 if step == 7 else 0.01})
    table.leave_out()
    parts = table.result(on_device=True)
    assert parts.first_is_odd
    assert parts.typical_ns[PHASES.index("forward")] == 10_000_000
    assert parts.p50_ns == 10_000_000
    assert any(note.startswith("times of the host") for note in parts.notes)
    assert any(note.startswith("1 of 30 steps took more than 3 times") for note in parts.notes)
    assert any(note == "1 step with extra instrumentation excluded" for note in parts.notes)


def test_a_table_of_nothing_is_fine() -> None:
    parts = PhaseTable().result()
    assert (parts.steps, parts.p50_ns, sum(parts.typical_ns)) == ([], 0, 0)
