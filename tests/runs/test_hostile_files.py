"""A run folder from somebody else: pipes, links and devices under the names of our files. Nothing hangs or leaks."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.runs.making import make_run

from stepscope.errors import BadData, StepscopeError
from stepscope.runs.artifacts import read_artifacts
from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.runs.catalogue.index import Index
from stepscope.runs.compact.compact import compact
from stepscope.runs.format.layout import log_files
from stepscope.runs.read.folder import open_run
from stepscope.runs.trash import trashed_runs

POINTS = {"loss": [1.0, 0.5, 0.25]}


@pytest.fixture(autouse=True)
def _nothing_hangs() -> Iterator[None]:
    def over(*_: object) -> None:
        pytest.fail("it waited for a file that never comes")  # no OSError, which readers pass over

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def hostile(path: Path, kind: str) -> None:
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(kind)


KINDS = ("pipe", "folder", "/dev/zero", "/etc/passwd", "/proc/self/environ", "nowhere")


@pytest.mark.parametrize("kind", KINDS)
def test_a_log_that_is_no_file_is_named_and_passed_over(tmp_path: Path, kind: str) -> None:
    run = make_run(tmp_path, series=POINTS)
    (run / "compact").mkdir()
    hostile(run / "h.0.1.b.01X.points.000001.log", kind)
    hostile(run / "h.0.1.b.01X.media.000001.log", kind)
    hostile(run / "compact" / "000007.log", kind)
    folder = open_run(run)
    assert folder.series("loss").values.tolist() == POINTS["loss"]
    assert kind == "nowhere" or len(folder.damage.errors) == 2
    with pytest.raises(StepscopeError):
        folder.media_bytes("0" * 64)
    assert read_artifacts(run) == []
    with Catalogue(tmp_path, index=Index(tmp_path / "cache")) as catalogue:
        assert [entry.metrics["loss"].last for entry in catalogue.entries()] == [0.25]


@pytest.mark.parametrize("kind", KINDS)
def test_a_meta_file_that_is_no_file_is_a_problem_of_its_run_alone(tmp_path: Path, kind: str) -> None:
    sound = make_run(tmp_path, "sound", series=POINTS)
    spoilt = make_run(tmp_path, "spoilt", series=POINTS)
    (spoilt / "meta.json").unlink()
    hostile(spoilt / "meta.json", kind)
    with Catalogue(tmp_path, index=Index(tmp_path / "cache")) as catalogue:
        assert sound.name in {entry.id for entry in catalogue.entries()}


def test_a_blob_that_is_no_file_is_not_given_out(tmp_path: Path) -> None:
    run = make_run(tmp_path, series=POINTS)
    (run / "blobs").symlink_to("/etc")
    with pytest.raises(StepscopeError):
        open_run(run).media_bytes("0" * 64)
    (run / "blobs").unlink()
    (run / "blobs").mkdir()
    os.mkfifo(run / "blobs" / ("0" * 64))
    with pytest.raises(StepscopeError):
        open_run(run).media_bytes("0" * 64)


def test_compaction_reads_no_device_through_a_link(tmp_path: Path) -> None:
    """The server once took 20 GB here: a compacted run beside a link to /dev/zero."""
    run = make_run(tmp_path, series={"loss": [float(at) for at in range(5000)]})
    assert compact(run).files == 1
    (run / "h.0.1.b.01X.points.000001.log").symlink_to("/dev/zero")
    os.mkfifo(run / "h.0.1.b.01X.points.000002.log")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for gone in (False, True):
        assert len(compact(run, gone=gone).skipped) >= 2
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10
    assert len(log_files(run)) == 2  # nothing was removed
    assert len(open_run(run).series("loss")) == 5000


def test_a_large_log_is_not_compacted_whole(tmp_path: Path) -> None:
    run = make_run(tmp_path, series=POINTS)
    with open(run / "h.0.1.b.01X.points.000001.log", "wb") as file:
        file.truncate(1 << 40)
    assert "above the limit of" in " ".join(compact(run, gone=True).skipped.values())


def test_the_trash_is_listed_whatever_lies_in_it(tmp_path: Path) -> None:
    (tmp_path / ".trash" / "01X").mkdir(parents=True)
    os.mkfifo(tmp_path / ".trash" / "01X.json")
    os.mkfifo(tmp_path / ".trash" / "01X" / "meta.json")
    assert trashed_runs([tmp_path]) == []


def test_a_run_folder_that_is_a_link_to_a_run_is_still_a_run(tmp_path: Path) -> None:
    """People link runs of other disks into a store; what must not leave the folder are the files in it."""
    run = make_run(tmp_path / "elsewhere", series=POINTS)
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / run.name).symlink_to(run)
    with Catalogue(tmp_path / "store", index=Index(tmp_path / "cache")) as catalogue:
        assert [entry.id for entry in catalogue.entries()] == [run.name]
    (run / "meta.json").unlink()
    (run / "meta.json").symlink_to("/dev/zero")
    with pytest.raises(BadData):
        open_run(tmp_path / "store" / run.name)
