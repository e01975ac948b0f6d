"""One rank holds up the others: named from the phases of the steps, where there is no trace of a GPU."""

from __future__ import annotations

from pathlib import Path

from stepscope.launch.phase_profile import wait_for_ranks
from stepscope.profile.advice.verdict import verdict
from stepscope.profile.profile import Profile
from stepscope.profile.store import write_meta, write_part
from stepscope.records.profile import Part, ProfileMeta, StepParts

KEYS = ("data", "forward", "backward", "optimizer", "other")


def write_rank(folder: Path, rank: int, ms: tuple[float, ...]) -> None:
    one = [int(part * 1e6) for part in ms]
    steps = StepParts(
        id="phases",
        title="Phases",
        parts=[Part(key=key, label=key) for key in KEYS],
        steps=list(range(10)),
        wall_ns=[sum(one)] * 10,
        parts_ns=[one] * 10,
    )
    write_part(folder, f"rank{rank}.phases", steps)
    write_part(folder, f"rank{rank}.facts.json", {"host": f"node-{rank}"})
    write_meta(folder, ProfileMeta(id="p", kind="simple", created=0.0, world=3), rank)


def test_the_rank_its_machine_and_its_phase_are_named(tmp_path: Path) -> None:
    for rank in range(3):
        write_rank(tmp_path, rank, (40, 3, 2, 1, 1) if rank == 2 else (1, 3, 41, 1, 1))
    (found,) = [one for one in verdict(Profile.load(tmp_path)).findings if one.rule == "perf.straggler"]
    assert found.message.startswith("rank 2 (node-2) is slow in loading data: 40 ms per step, the other ranks 1 ms")


def test_ranks_that_take_turns_in_waiting_are_no_stragglers(tmp_path: Path) -> None:
    for rank in range(3):
        write_rank(tmp_path, rank, (10, 3, 30 + rank, 1, 1))
    assert not [one for one in verdict(Profile.load(tmp_path)).findings if one.rule == "perf.straggler"]


def test_rank_0_does_not_wait_for_what_it_has(tmp_path: Path) -> None:
    write_rank(tmp_path, 1, (10, 3, 30, 1, 1))
    wait_for_ranks(tmp_path, 2, wait_s=float("inf"))
    wait_for_ranks(tmp_path, 3, wait_s=0.0)
