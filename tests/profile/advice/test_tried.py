"""What a trial measured replaces an estimate, and what it contradicts is withdrawn."""

from __future__ import annotations

from typing import Any

import pytest

from stepscope.profile.advice.engine import advise
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tried import TriedInside
from stepscope.profile.advice.verdict import Verdict, verdict

MS = 1_000_000
LOADER = {
    "made": ["train.py", 9],
    "iterated": ["train.py", 12],
    "num_workers": 4,
    "trains": 50,
    "first_wait_ns": 900 * MS,
    "wait_ns": 0,
    "batches": 100,
    "passes": 10,
}


class Told:
    """A profile of facts alone."""

    ranks = (0,)

    def __init__(self, trials: list[dict[str, Any]]) -> None:
        steps = {"count": 50, "wall_ns": 100 * MS, "data_ns": 5 * MS, "optimizer_ns": 5 * MS}
        self._facts = {"steps": steps, "loaders": [LOADER], "cpu": {"cores": 8, "threads": 8}, "trials": trials}

    def facts(self, rank: int) -> dict[str, Any]:
        return self._facts

    def phases(self, rank: int) -> None:
        return None

    def trace(self, rank: int) -> None:
        return None


def tried(*ratios: float) -> list[dict[str, Any]]:
    change = {"kind": "loader", "settings": {"persistent_workers": True}}
    return [{"rule": "perf.workers-restarted", **change, "ratios": list(ratios), "steps": 80}]


def said(*ratios: float) -> Verdict:
    return verdict(Told(tried(*ratios) if ratios else []))  # type: ignore[arg-type]


def test_without_a_trial_it_is_an_estimate_with_a_range() -> None:
    (finding,) = said().findings
    assert finding.evidence["basis"] == "estimated"
    low, high = finding.evidence["gain_range"]
    assert 1 < low < high
    assert "estimated, " in str(said())


def test_a_trial_says_what_it_measured_and_how_far_its_rounds_lie_apart() -> None:
    found = said(1.5, 1.45, 1.52, 1.6)
    (finding,) = found.findings
    assert finding.evidence["basis"] == "measured"
    assert finding.evidence["measured"]["gain"] == pytest.approx(1.51)
    assert finding.evidence["saving_ms"] == pytest.approx(100 * (1 - 1 / 1.51), rel=0.01)
    assert finding.evidence["gain_range"] == [1.5, 1.52]
    assert "1.5x, measured on 80 steps (1.5x to 1.5x)" in str(found)


def test_what_a_trial_contradicts_is_withdrawn_and_said() -> None:
    found = said(0.55, 0.5, 0.6, 0.52)
    assert found.findings == []
    assert "tried and withdrawn: persistent_workers=True: 0.54x when tried on 80 steps" in str(found)


def test_rounds_that_do_not_agree_leave_the_estimate() -> None:
    (finding,) = said(0.5, 2.0, 0.7, 3.0).findings
    assert finding.evidence["basis"] == "estimated"


def test_a_trial_of_another_change_says_nothing() -> None:
    trials = [{**tried(0.5, 0.5, 0.5)[0], "settings": {"num_workers": 2}}]
    run = Measured(Told(trials))  # type: ignore[arg-type]
    assert [one.finding.evidence["basis"] for one in advise(run)] == ["estimated"]
    assert run.withdrawn == []


def test_facts_of_strangers_are_read_as_far_as_they_make_sense() -> None:
    for ratios in ([], ["x"], [float("nan"), -1], None):
        trials = [{**tried(1.0)[0], "ratios": ratios}]
        assert advise(Measured(Told(trials)))[0].finding.evidence["basis"] == "estimated"  # type: ignore[arg-type]


def test_clear_is_what_lies_on_one_side() -> None:
    assert TriedInside([1.3, 1.2, 1.25, 1.4], 8).is_clear
    assert TriedInside([0.9, 0.8, 0.95, 0.9], 8).is_clear
    assert not TriedInside([0.7, 1.3, 0.9, 1.4], 8).is_clear
    assert not TriedInside([1.3], 8).is_clear


@pytest.mark.parametrize(("gain", "basis"), [(1.0, "bound"), (1.8, "estimated")])
def test_threads_that_gain_a_product_nothing_are_tried_and_not_promised(gain: float, basis: str) -> None:
    told = Told([])
    call = {"op": "linear", "fetching": False, "least_ns": 5 * MS, "ns": 5 * MS, "calls": 1, "file": "", "line": 0}
    told._facts |= {
        "cpu": {"cores": 2, "threads": 1}, "calls": [call], "loaders": [], "machine": {"threads_gain": gain},
    }  # fmt: skip
    (one,) = [one for one in verdict(told).findings if one.rule == "perf.cpu-threads"]  # type: ignore[arg-type]
    assert one.evidence["basis"] == basis
