"""What basic things cost here is measured once, kept for this machine, and read back with care."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from stepscope.profile.advice.machine import Machine
from stepscope.profile.collect import calibration
from stepscope.profile.collect.other_programs import OtherPrograms


class Idle(OtherPrograms):
    def cores(self) -> float:
        return 0.0


class Busy(OtherPrograms):
    def cores(self) -> float:
        return 1.5


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STEPSCOPE_CACHE", str(tmp_path))
    return tmp_path / "machine.json"


def test_measured_figures_are_possible_ones_and_leave_the_process_as_it_was() -> None:
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    figures = calibration._measure(torch)
    machine = Machine.of(figures)
    assert machine.is_measured
    assert {"op_ns", "copy_bytes_per_ns", "double_gain", "worker_start_ns", "hand_over_ns"} <= set(figures)
    assert machine.worker_start_ns > machine.hand_over_ns > machine.op_ns > 0
    assert machine.hand_over(1 << 20) > machine.hand_over(0)
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.get_rng_state(), state)


def test_they_are_measured_once_for_a_machine(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = iter([{"op_ns": 1.0, "is_measured": True}, {"op_ns": 2.0, "is_measured": True}])
    monkeypatch.setattr(calibration, "_measure", lambda torch: next(measured))
    monkeypatch.setattr(calibration, "OtherPrograms", Idle)
    assert calibration.calibrated(torch)["op_ns"] == 1.0
    assert calibration.calibrated(torch)["op_ns"] == 1.0
    monkeypatch.setattr(calibration, "_key", lambda torch: "another machine")
    assert calibration.calibrated(torch)["op_ns"] == 2.0
    assert len(json.loads(cache.read_text())["machines"]) == 2


def test_figures_of_a_busy_machine_are_not_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "_measure", lambda torch: {"op_ns": 1.0, "is_measured": True})
    monkeypatch.setattr(calibration, "OtherPrograms", Busy)
    assert calibration.calibrated(torch)["op_ns"] == 1.0
    assert not cache.exists()


def test_a_damaged_or_older_cache_is_measured_again(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "_measure", lambda torch: {"op_ns": 3.0, "is_measured": True})
    monkeypatch.setattr(calibration, "OtherPrograms", Idle)
    for text in ("{", "[]", '{"version": 0, "machines": {}}', '{"version": 1, "machines": 7}'):
        cache.write_text(text)
        assert calibration.calibrated(torch)["op_ns"] == 3.0


def test_figures_that_cannot_be_are_left_at_their_defaults() -> None:
    usual = Machine()
    assert Machine.of(None) == Machine.of([]) == usual
    odd = Machine.of({"op_ns": -3, "tf32_gain": float("inf"), "half_gain": "fast", "unknown": 1, "is_measured": True})
    assert odd == usual
