"""Runs in a folder that people share: modes follow the umask there, and two users work on one run."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stepscope.errors import Forbidden
from stepscope.records import RunMeta
from stepscope.runs.format.filesystem import create_file, make_folder, sharing_of
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run, run_folders
from stepscope.runs.read.folder import open_run
from stepscope.runs.trash import move_to_trash, trashed_runs
from stepscope.views.edit import EditRequest, changes, write_changes

from .making import make_run
from .written import in_child, wait_for

FORKS = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")

ANNA, BERT, CLEO = 41001, 41002, 41003
TEAM = 41100


def meta_of() -> RunMeta:
    return RunMeta(id=new_run_id(), project="digits", name="first", created=1.0)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def shared(path: Path, bits: int = 0o2775) -> Path:
    path.mkdir()
    path.chmod(bits)
    return path


@pytest.mark.usefixtures("umask")
def test_a_setgid_folder_shares_what_the_umask_leaves_with_its_group_only(tmp_path: Path) -> None:
    run = create_run(shared(tmp_path / "runs"), meta_of())
    os.close(create_file(run / "one.log"))
    make_folder(run / "blobs")
    assert (mode(run), mode(run / "meta.json")) == (0o2750, 0o640)
    assert (mode(run / "blobs"), mode(run / "one.log")) == (0o2750, 0o640)
    os.umask(0o002)
    run = create_run(tmp_path / "runs", meta_of())
    assert (mode(run), mode(run / "meta.json")) == (0o2770, 0o660)
    os.umask(0o077)
    run = create_run(tmp_path / "runs", meta_of())
    assert (mode(run) & 0o777, mode(run / "meta.json")) == (0o700, 0o600)


@pytest.mark.usefixtures("umask")
@pytest.mark.parametrize("bits", [0o755, 0o775, 0o1777, 0o2700])
def test_any_other_folder_stays_private(tmp_path: Path, bits: int) -> None:
    store = shared(tmp_path / "runs", bits)
    os.umask(0o002)
    run = create_run(store, meta_of())
    assert sharing_of(store) == "private"
    assert (mode(run) & 0o777, mode(run / "meta.json")) == (0o700, 0o600)


@pytest.mark.usefixtures("umask")
@pytest.mark.parametrize(
    ("chosen", "folder", "file"), [("private", 0o700, 0o600), ("group", 0o770, 0o660), ("umask", 0o755, 0o644)]
)
def test_the_variable_decides_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: str, folder: int, file: int
) -> None:
    monkeypatch.setenv("STEPSCOPE_SHARED", chosen)
    for store in (tmp_path / "new", shared(tmp_path / "setgid")):
        run = create_run(store, meta_of())
        assert (mode(run) & 0o777, mode(run / "meta.json")) == (folder, file)
    assert chosen != "group" or mode(tmp_path / "new") == 0o2770


# -- two people ------------------------------------------------------------------------------------------------


@pytest.fixture
def common() -> Iterator[Path]:
    """A folder of the team, outside of pytest's own, which only its user may enter."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root can become another user")
    place = Path(tempfile.mkdtemp())
    place.chmod(0o755)
    runs = shared(place / "runs", 0o770)
    os.chown(runs, 0, TEAM)
    runs.chmod(0o2770)
    yield runs
    shutil.rmtree(place)


def act(who: int, work: Callable[[], None], *, umask: int = 0o022, team: bool = True) -> int:
    """Do something as somebody, in a process of their own: its exit code."""

    def child() -> None:
        os.setgroups([TEAM] if team else [])
        os.setresgid(who, who, who)
        os.setresuid(who, who, who)
        os.umask(umask)
        try:
            work()
        except BaseException:
            traceback.print_exc()
            raise

    return wait_for(in_child(child), timeout=120)


def write(store: Path) -> None:
    make_run(store, series={"loss": [0.5]})


def read(store: Path, tags: list[str]) -> None:
    (path,) = run_folders(store)
    run = open_run(path)
    assert (run.series("loss").values.tolist(), list(run.tags)) == ([0.5], tags)


def tag(store: Path) -> None:
    (path,) = run_folders(store)
    write_changes(path, path.name, changes(EditRequest(runs=[path.name], add_tags=["good"])))


def refused(work: Callable[[], None]) -> None:
    with pytest.raises((Forbidden, OSError, ValueError)):  # ValueError: no run to be seen
        work()


@FORKS
def test_two_people_share_a_setgid_folder(common: Path) -> None:
    assert act(ANNA, lambda: write(common)) == 0
    assert act(BERT, lambda: read(common, [])) == 0
    assert act(BERT, lambda: refused(lambda: tag(common))) == 0  # Anna's umask of 022 keeps her run her own
    assert act(CLEO, lambda: refused(lambda: read(common, [])), team=False) == 0


@FORKS
def test_with_group_both_change_one_run(common: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPSCOPE_SHARED", "group")
    assert act(ANNA, lambda: write(common), umask=0o077) == 0
    assert act(BERT, lambda: tag(common), umask=0o077) == 0
    assert act(ANNA, lambda: read(common, ["good"])) == 0


@FORKS
def test_two_people_use_one_trash(common: Path) -> None:
    def delete() -> None:
        (path,) = run_folders(common)
        move_to_trash(path)

    for who in (ANNA, BERT):
        assert act(who, lambda: write(common), umask=0o002) == 0
        assert act(who, delete) == 0
    assert len(trashed_runs([common])) == 2


@FORKS
def test_private_runs_stay_private_in_a_shared_folder(common: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPSCOPE_SHARED", "private")
    assert act(ANNA, lambda: write(common)) == 0
    assert act(BERT, lambda: refused(lambda: read(common, []))) == 0
