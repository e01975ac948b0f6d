"""A deleted run can come back as it was, for a week."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from tests.views.conftest import write_run

from stepscope.errors import StorageError
from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.runs.read.folder import open_run
from stepscope.runs.trash import KEPT_S, TRASH, folder_size, move_to_trash, purge, purge_old, restore, trashed_runs


def names(store: Path) -> list[str]:
    with Catalogue(store) as catalogue:
        return sorted(entry.name for entry in catalogue.entries())


def test_a_run_goes_out_of_the_list_and_comes_back_whole(store: Path) -> None:
    run = write_run(store, "gone", {"loss": [3.0, 2.0, 1.0]})
    write_run(store, "stays")
    size = folder_size(store / run)
    gone = move_to_trash(store / run)
    assert names(store) == ["stays"]
    assert (gone.name, gone.bytes, gone.path) == ("gone", size, store / TRASH / run)
    assert trashed_runs([store]) == [gone]
    assert restore(gone) == store / run
    assert names(store) == ["gone", "stays"]
    assert open_run(store / run).series("loss").values.tolist() == [3.0, 2.0, 1.0]
    assert trashed_runs([store]) == []


def test_only_what_is_a_week_old_is_removed(store: Path) -> None:
    old, young = write_run(store, "old"), write_run(store, "young")
    now = time.time()
    move_to_trash(store / old, now=now - KEPT_S - 60)
    move_to_trash(store / young, now=now - KEPT_S + 60)
    assert purge_old([store], now) == 1
    [left] = trashed_runs([store])
    assert left.name == "young"
    purge(left)
    assert not (store / TRASH).exists()


def test_a_lost_or_damaged_note_does_not_hide_a_run(store: Path) -> None:
    run = write_run(store, "kept")
    move_to_trash(store / run, "renamed")
    (store / TRASH / f"{run}.json").write_bytes(b"\xff{not json")
    [found] = trashed_runs([store])
    assert (found.name, found.id) == ("kept", run)
    assert time.time() - found.deleted < 60
    restore(found)
    assert names(store) == ["kept"]


def test_a_folder_that_took_the_place_is_not_overwritten(store: Path) -> None:
    run = write_run(store, "first")
    gone = move_to_trash(store / run)
    (store / run).mkdir()
    with pytest.raises(StorageError, match="exists again"):
        restore(gone)
    assert gone.path.exists()


@pytest.mark.skipif(os.geteuid() == 0 if hasattr(os, "geteuid") else True, reason="root may write everywhere")
def test_a_store_that_may_not_be_written_keeps_its_run(store: Path) -> None:
    run = write_run(store, "fixed")
    store.chmod(0o500)
    try:
        with pytest.raises(StorageError, match="could not be moved"):
            move_to_trash(store / run)
    finally:
        store.chmod(0o700)
    assert names(store) == ["fixed"]
