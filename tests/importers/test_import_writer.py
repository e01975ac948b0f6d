"""Foreign runs come in whole, once, and go on where the last import stopped, whatever interrupted it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stepscope.importers.foreign import Columns, ForeignRun, Piece, Thing, WideRow
from stepscope.importers.import_writer import Landing
from stepscope.records import Media
from stepscope.runs.catalogue.run_list import runs

START = 1_600_000_000.25


@dataclass
class Growing:
    """A source with one run whose points lie in a list."""

    path: Path
    values: list[float] = field(default_factory=list)
    kind: str = "growing"
    read_to: int = 0

    def runs(self) -> list[ForeignRun]:
        return [ForeignRun(key="a/b", name="a/b", project="logs", created=START, config={"lr": 0.1})]

    def read(self, run: ForeignRun, cursor: Any) -> Iterator[Piece]:
        start = cursor or 0
        self.read_to = len(self.values)
        new = np.array(self.values[start:])
        steps = np.arange(start, start + len(new))
        if len(new):
            yield Columns("loss", steps, START + steps * 3600.0, new)
            yield Thing(Media(key="note", step=int(steps[-1]), time=START, kind="text", mime="text/plain"), b"x" * 5000)

    def cursor(self, run: ForeignRun) -> Any:
        return self.read_to

    def troubles(self) -> list[str]:
        return []


def loss_of(store: Path) -> Any:
    (run,) = runs(store)
    return run.series("loss")


def test_points_keep_their_own_times_however_far_apart(tmp_path: Path) -> None:
    source = Growing(tmp_path / "logs", [float(v) for v in np.random.default_rng(0).normal(size=3000)])
    landed = Landing(source, tmp_path / "store").look()
    assert (landed.new_runs, landed.points, landed.media) == (1, 3000, 1)
    series = loss_of(tmp_path / "store")
    np.testing.assert_array_equal(series.values, source.values)
    np.testing.assert_array_equal(series.times, START + np.arange(3000) * 3600.0)
    (run,) = runs(tmp_path / "store")
    assert run.status == "finished"
    assert run.config["lr"] == 0.1


class Huge(Growing):
    """A source whose values a float cannot hold."""

    def read(self, run: ForeignRun, cursor: Any) -> Iterator[Piece]:
        for step in range(200):
            yield WideRow(step, START + step / 7, {"big": 2**60 + step})


def test_integers_beyond_a_float_keep_their_own_times_too(tmp_path: Path) -> None:
    Landing(Huge(tmp_path / "logs"), tmp_path / "store").look()
    (run,) = runs(tmp_path / "store")
    assert run.series("big").times.tolist() == [START + step / 7 for step in range(200)]


def test_a_second_import_adds_only_what_is_new(tmp_path: Path) -> None:
    source = Growing(tmp_path / "logs", [1.0, 2.0])
    Landing(source, tmp_path / "store").look()
    assert Landing(source, tmp_path / "store").look().points == 0
    source.values.append(3.0)
    assert Landing(source, tmp_path / "store").look().points == 1
    np.testing.assert_array_equal(loss_of(tmp_path / "store").values, [1.0, 2.0, 3.0])


def test_what_a_killed_import_left_is_not_doubled(tmp_path: Path) -> None:
    source = Growing(tmp_path / "logs", [1.0])
    Landing(source, tmp_path / "store").look()
    source.values += [2.0, 3.0]
    killed = Landing(source, tmp_path / "store")
    killed._find_known()
    run = source.runs()[0]
    from stepscope.importers.import_writer import Landed

    writer = killed._writer(run, Landed())
    for piece in source.read(run, 1):
        killed._keep(writer, piece, Landed())
    writer.flush()  # and here the process dies: import.json still says one point
    Landing(source, tmp_path / "store").look()
    np.testing.assert_array_equal(loss_of(tmp_path / "store").values, [1.0, 2.0, 3.0])


@dataclass
class Stumbling(Growing):
    """Fails after its first piece, as often as it is told to."""

    faults: int = 1

    def read(self, run: ForeignRun, cursor: Any) -> Iterator[Piece]:
        for piece in super().read(run, cursor):
            yield piece
            if self.faults:
                self.faults -= 1
                raise OSError("gone")


@pytest.mark.parametrize("before", [0, 2])
def test_a_look_that_was_interrupted_leaves_nothing_behind(tmp_path: Path, before: int) -> None:
    source = Stumbling(tmp_path / "logs", [1.0] * before, faults=0)
    landing = Landing(source, tmp_path / "store")
    if before:
        landing.look(follow=True)
    source.values += [2.0, 3.0]
    source.faults = 2
    for _ in range(2):
        with pytest.raises(OSError, match="gone"):
            landing.look(follow=True)
    landing.look(follow=True)
    landing.close()
    np.testing.assert_array_equal(loss_of(tmp_path / "store").values, [1.0] * before + [2.0, 3.0])


def test_a_landing_that_is_closed_after_a_fault_is_mended_by_the_next(tmp_path: Path) -> None:
    source = Stumbling(tmp_path / "logs", [1.0, 2.0])
    landing = Landing(source, tmp_path / "store")
    with pytest.raises(OSError, match="gone"):
        landing.look()
    landing.close()
    Landing(source, tmp_path / "store").look()
    np.testing.assert_array_equal(loss_of(tmp_path / "store").values, [1.0, 2.0])
