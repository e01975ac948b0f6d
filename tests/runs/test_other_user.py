"""A viewer needs the right to read and nothing else: another user, a folder nobody may write to."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stepscope.errors import Forbidden, StorageError
from stepscope.export.run import export_run
from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.runs.catalogue.index import Index
from stepscope.runs.compact.compact import compact
from stepscope.runs.read.folder import open_run
from stepscope.runs.trash import move_to_trash

from .making import make_old, make_run
from .written import in_child, wait_for

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become another user"),
    pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning"),
]
NOBODY = 65534


@pytest.fixture
def shared() -> Iterator[Path]:
    """A store that all users can reach (a test's own folder is private)."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


def look(store: Path, cache: Path) -> None:
    """Everything a viewer does with a store."""
    with Catalogue(store, index=Index(cache)) as catalogue:
        (entry,) = catalogue.entries("loss.min < 0.5")
        run = open_run(entry.path)
        assert (run.status, run.series("loss").values.tolist()) == ("finished", [0.5, 0.25])
        export_run(run, "csv", io.BytesIO())
        assert compact(run.path).skipped != {}, "nothing is compacted where we may not write"
        with pytest.raises(StorageError, match="could not be moved"):
            move_to_trash(run.path)


def as_nobody(work: Callable[[], None]) -> int:
    def child() -> None:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
        try:
            work()
        except BaseException:
            traceback.print_exc()
            raise

    return wait_for(in_child(child), timeout=300)


def open_up(store: Path) -> None:
    for path in (store, *store.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)


def test_another_user_with_the_right_to_read_sees_everything_and_changes_nothing(shared: Path, tmp_path: Path) -> None:
    path = make_run(shared, series={"loss": [0.5, 0.25]})
    make_old(shared)
    open_up(shared)
    before = sorted((str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in shared.rglob("*"))
    open_run(path).series("loss")  # what is imported late must be imported before we lose the right to
    with Catalogue(shared, index=Index(tmp_path / "warm")) as catalogue:
        catalogue.entries("loss.min < 0.5")
    export_run(open_run(path), "csv", io.BytesIO())
    assert as_nobody(lambda: look(shared, Path("/nowhere/cache"))) == 0
    assert sorted((str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in shared.rglob("*")) == before


def test_without_the_right_to_read_a_run_is_not_there_rather_than_wrong(shared: Path) -> None:
    path = make_run(shared, series={"loss": [0.5]})  # private, as every run is

    def work() -> None:
        with pytest.raises(Forbidden, match="may not be read"):
            open_run(path)

    open_run(path).series("loss")
    assert as_nobody(work) == 0
