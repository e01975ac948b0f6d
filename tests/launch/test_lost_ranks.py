"""A rank that lost its connection: the others say how they ended."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from stepscope.launch.lost_ranks import aborted_beside, left_alone
from stepscope.records.hang import RankState

LOST = RuntimeError("[gloo/transport/tcp/pair.cc:547] Connection closed by peer [127.0.0.1]:8172")


class Store:
    """The channel of rank 0 of three, with what the others have put there."""

    rank, size = 0, 3

    def __init__(self, *ended: RankState) -> None:
        self.said = {f"ended/{one.rank}": msgspec.json.encode(one) for one in ended}

    def get(self, key: str) -> bytes | None:
        return self.said.get(key)

    def put(self, key: str, message: bytes) -> None:
        self.said[key] = message


def lost() -> RuntimeError:
    try:
        raise LOST
    except RuntimeError as error:
        return error


def ended(rank: int, error: str = "") -> RankState:
    return RankState(rank=rank, kind="ended", step=12, error=error)


def test_a_rank_that_waits_for_ranks_that_ended_well_has_parted_from_them() -> None:
    finding = left_alone(Store(ended(1), ended(2)), None, None, lost())  # type: ignore[arg-type]
    assert finding is not None
    assert finding.file == __file__
    assert "ranks 1, 2 have ended after 12 steps" in finding.message


@pytest.mark.parametrize("error", ["ValueError: a sample is empty", f"RuntimeError: {LOST}"])
def test_a_rank_that_failed_is_no_proof_of_that(error: str) -> None:
    assert left_alone(Store(ended(1, error)), None, None, lost(), wait_s=0.0) is None  # type: ignore[arg-type]


def test_nothing_is_known_of_a_rank_that_was_killed(tmp_path: Path) -> None:
    assert left_alone(Store(), None, tmp_path, lost(), wait_s=0.0) is None  # type: ignore[arg-type]
    assert aborted_beside(Store(), None, tmp_path, None) is None  # type: ignore[arg-type]


def test_the_rank_that_cpp_code_ended_is_named(tmp_path: Path) -> None:
    (tmp_path / "ranks").mkdir()
    script = tmp_path / "train.py"
    said = f'Fatal Python error: Aborted\n\nThread 0x1 (most recent call first):\n  File "{script}", line 9 in fit\n'
    (tmp_path / "ranks/fatal-2.txt").write_text(said)
    (tmp_path / "ranks/fatal-7.txt").write_text(said)  # of an earlier start with more ranks
    finding = aborted_beside(Store(), None, tmp_path, lost())  # type: ignore[arg-type]
    assert finding is not None
    assert "rank 2 was ended by C++ code (Aborted) (train.py:9)" in finding.message
    assert "rank 7" not in finding.message


def test_a_rank_that_was_elsewhere_is_named_beside_the_one_that_was_aborted(tmp_path: Path) -> None:
    (tmp_path / "ranks").mkdir()
    said = f'Fatal Python error: Aborted\n\nThread 0x1 (most recent call first):\n  File "{__file__}", line 9 in fit\n'
    (tmp_path / "ranks/fatal-2.txt").write_text(said)
    store = Store()
    store.put(
        "stopped/1", msgspec.json.encode(RankState(rank=1, kind="backward", doing="backward", file="/a/t.py", line=5))
    )
    finding = aborted_beside(store, None, tmp_path, lost())  # type: ignore[arg-type]
    assert finding is not None
    assert "rank 1 waits in backward (t.py:5)" in finding.message
    assert [(one.file, one.line) for one in finding.related].count((finding.file, finding.line)) == 0


def test_only_the_rank_that_may_report_it_waits_for_the_others(tmp_path: Path) -> None:
    (tmp_path / "ranks").mkdir()
    (tmp_path / "ranks/fatal-2.txt").write_text("Fatal Python error: Aborted\n")
    store = Store()
    assert aborted_beside(store, None, tmp_path, lost(), claims=lambda: False) is None  # type: ignore[arg-type]
    assert "stopped/0" in store.said
