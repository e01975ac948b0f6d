"""A real ext4 that loses its power at a call of ours, and is mounted again: journal and all (root only)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.faults.mounted import PowerCut, one_with_power
from tests.faults.rounds import chance, note_tries, times
from tests.runs.making import make_old, make_run
from tests.runs.written import in_child, new_run, quiet_writer, wait_for

from stepscope.records import End
from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.runs.catalogue.index import Index
from stepscope.runs.compact.compact import compact
from stepscope.runs.format.layout import run_folders
from stepscope.runs.read.folder import open_run
from stepscope.runs.trash import move_to_trash, trashed_runs

pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
VALUES = [step / 4 for step in range(2000)]
_CALLS = ("fsync", "fdatasync", "replace", "rename", "unlink", "mkdir", "write")


@pytest.fixture
def power(tmp_path: Path) -> Iterator[PowerCut]:
    with one_with_power(tmp_path) as disk:
        yield disk


def cut_at(power: PowerCut, number: int, work: Callable[[], object]) -> None:
    """Do the work in another process; the power goes before its call of this number, or at its end."""

    def child() -> None:
        left = number

        def counted(real: Callable[..., Any]) -> Callable[..., Any]:
            def call(*arguments: Any, **options: Any) -> Any:
                nonlocal left
                left -= 1
                if left < 0:
                    power.cut()
                    os._exit(0)
                return real(*arguments, **options)

            return call

        for name in _CALLS:
            setattr(os, name, counted(getattr(os, name)))
        work()
        power.cut()

    assert wait_for(in_child(child)) == 0
    power.boot()


def numbers(seed: int, most: int, short: int) -> list[int]:
    """At which calls to cut: some of them in the gate."""
    note_tries(times(short))
    return sorted(chance(seed).choices(range(most), k=times(short)))


def test_compaction_and_the_trash(power: PowerCut) -> None:
    for number in numbers(5, 40, 6):
        path = make_run(power.path, "n", series={"loss": VALUES, "acc": VALUES})
        os.sync()

        def work(path: Path = path) -> None:
            compact(path)
            move_to_trash(path)

        cut_at(power, number, work)
        (found,) = [*run_folders(power.path), *(one.path for one in trashed_runs([power.path]))]
        run = open_run(found)
        assert (run.status, run.meta.name) == ("finished", "n")
        assert run.series("loss").values.tolist() == run.series("acc").values.tolist() == VALUES
        assert not run.damage
        power.clear()


def test_a_writer_keeps_what_it_synced(power: PowerCut) -> None:
    for number in numbers(6, 400, 6):
        path = new_run(power.path)
        synced = power.path.parent / "synced"
        synced.write_text("0")

        def work(path: Path = path, synced: Path = synced) -> None:
            writer = quiet_writer(path)
            row = writer.keyset(("loss",))
            for step in range(300):
                row.write(step, (step / 4,))
                if step % 20 == 19 and writer.flush():
                    synced.write_text(str(step + 1))
            writer.close(End(time=time.time(), status="finished"))

        cut_at(power, number, work)
        run = open_run(path)
        values = run.series("loss").values.tolist() if "loss" in run.metrics() else []
        assert values == [step / 4 for step in range(len(values))]
        assert len(values) >= int(synced.read_text())
        power.clear()


def test_the_index_in_the_cache(power: PowerCut, store: Path) -> None:
    """SQLite in the middle of its writes; after the boot the answers are those of the runs."""
    for number in range(20):
        make_run(store, f"run{number}", series={"loss": [float(number)]})
    make_old(store)
    note_tries(times(4))
    for pause in sorted(chance(7).random() * 0.05 for _ in range(times(4))):

        def work() -> None:
            with Catalogue(store, index=Index(power.path / "cache")) as catalogue:
                catalogue.refresh()

        pid = in_child(work)
        time.sleep(pause)
        power.cut()
        wait_for(pid)
        power.boot()
        with Catalogue(store, index=Index(power.path / "cache")) as catalogue:
            catalogue.refresh()
            found = {entry.name: entry.metrics["loss"].last for entry in catalogue.entries()}
        assert found == {f"run{number}": float(number) for number in range(20)}
        power.clear()
