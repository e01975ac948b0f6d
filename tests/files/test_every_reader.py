"""Hostile files given to each reader: imports, checkpoints, traces, profiles, reports, views, settings."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stepscope.errors import BadData, StepscopeError
from stepscope.eventfiles.write import event, text, version
from stepscope.importers.aim.mirror import mirrored
from stepscope.importers.detect import sources_in
from stepscope.importers.import_writer import Landing
from stepscope.inspect.checkpoint import read_checkpoint
from stepscope.profile.open import open_profile
from stepscope.profile.trace.read import read_trace
from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.runs.catalogue.index import Index

SECRET = "root:x:0:0"


@pytest.fixture(autouse=True)
def _nothing_hangs() -> Iterator[None]:
    def over(*_: object) -> None:
        pytest.fail("it waited for a file that never comes")

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def mlflow_run(root: Path) -> Path:
    run = root / "mlruns" / "0" / "a1b2"
    for inner in ("params", "tags", "metrics", "artifacts"):
        (run / inner).mkdir(parents=True)
    (root / "mlruns" / "0" / "meta.yaml").write_text("experiment_id: '0'\nname: digits\nlifecycle_stage: active\n")
    (run / "meta.yaml").write_text(
        "run_id: a1b2\nlifecycle_stage: active\nstatus: 3\nstart_time: 1790000000000\n"
        f"artifact_uri: {(run / 'artifacts').as_uri()}\n"
    )
    (run / "params" / "lr").write_text("0.1")
    (run / "metrics" / "loss").write_text("1790000000000 0.5 0\n1790000001000 0.25 1\n")
    return run


def imported(path: Path, store: Path) -> tuple[str, list[str]]:
    """Everything that an import wrote, as one text, and what it said."""
    said: list[str] = []
    for source in sources_in(path):
        landing = Landing(source, store)
        said += landing.look().troubles
        landing.close()
    files = [file for file in store.rglob("*") if file.is_file()]
    return "".join(file.read_bytes().decode("latin-1") for file in files), said


def test_an_mlflow_folder_brings_in_nothing_from_outside(tmp_path: Path) -> None:
    run = mlflow_run(tmp_path)
    (run / "params" / "p").symlink_to("/etc/passwd")
    (run / "tags" / "t").symlink_to("/etc/passwd")
    (run / "tags" / "mlflow.note.content").symlink_to("/etc/passwd")
    (run / "metrics" / "zero").symlink_to("/dev/zero")
    os.mkfifo(run / "metrics" / "pipe")
    os.mkfifo(run / "params" / "pipe")
    (run / "artifacts" / "notes.txt").symlink_to("/etc/passwd")
    (run / "artifacts" / "etc").symlink_to("/etc")
    content, said = imported(tmp_path / "mlruns", tmp_path / "store")
    assert SECRET not in content
    assert len([line for line in said if "leads elsewhere and was skipped" in line]) == 6
    with Catalogue(tmp_path / "store", index=Index(tmp_path / "cache")) as catalogue:
        [entry] = catalogue.entries()
        assert (entry.config, entry.metrics["loss"].last) == ({"lr": 0.1}, 0.25)


def test_an_artifact_address_outside_of_the_folder_is_not_read(tmp_path: Path) -> None:
    run = mlflow_run(tmp_path)
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "notes.txt").write_text(SECRET)
    meta = run / "meta.yaml"
    meta.write_text(meta.read_text().replace((run / "artifacts").as_uri(), str(tmp_path / "private")))
    (run / "artifacts").rmdir()
    content, said = imported(tmp_path / "mlruns", tmp_path / "store")
    assert SECRET not in content
    assert "outside" in " ".join(said)


def test_a_tensorboard_folder_brings_in_nothing_from_outside(tmp_path: Path) -> None:
    record = event(1.79e9, 1, text("note", "mine"))
    for name in ("in/a", "in/b", "elsewhere"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "events.out.tfevents.1.h").write_bytes(version(1.79e9) + record)
    (tmp_path / "in" / "linked").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "in" / "b" / "events.out.tfevents.2.h").symlink_to(tmp_path / "elsewhere" / "events.out.tfevents.1.h")
    _, said = imported(tmp_path / "in", tmp_path / "store")
    assert len([path for path in (tmp_path / "store").iterdir() if path.is_dir() and len(path.name) == 26]) == 2
    assert len([line for line in said if "leads elsewhere and was skipped" in line]) == 2


@pytest.mark.parametrize("kind", ["pipe", "/dev/zero", "/etc/passwd"])
def test_other_tools_files_that_are_none(tmp_path: Path, kind: str) -> None:
    wandb, board = tmp_path / "in" / "wandb" / "run-1-abc", tmp_path / "in" / "board"
    for folder in (wandb / "files", board):
        folder.mkdir(parents=True)
    names = [
        wandb / "run-abc.wandb", wandb / "files" / "config.yaml", board / "events.out.tfevents.1.h",
        board / "projector_config.pbtxt", tmp_path / "in" / "a.db", tmp_path / "in" / "mlflow.db",
        tmp_path / "in" / "b.parquet", tmp_path / "in" / "mlruns",
    ]  # fmt: skip
    for path in names:
        if kind == "pipe":
            os.mkfifo(path)
        else:
            path.symlink_to(kind)
    content, _ = imported(tmp_path / "in", tmp_path / "store")
    assert SECRET not in content


def test_the_copy_of_an_aim_folder_holds_plain_files_only(tmp_path: Path) -> None:
    (tmp_path / ".aim" / "meta").mkdir(parents=True)
    for name in ("CURRENT", "meta/000001.sst", "meta/OPTIONS"):
        (tmp_path / ".aim" / name).write_text("mine")
    os.mkfifo(tmp_path / ".aim" / "meta" / "MANIFEST")
    (tmp_path / ".aim" / "meta" / "000002.sst").symlink_to("/etc/passwd")
    (tmp_path / ".aim" / "meta" / "000003.log").symlink_to("/etc/passwd")
    mirrored(tmp_path / ".aim", tmp_path / "copy")
    made = [path for path in (tmp_path / "copy").rglob("*") if not path.is_dir()]
    assert sorted(path.name for path in made) == ["000001.sst", "CURRENT", "OPTIONS"]
    assert {path.read_text() for path in made} == {"mine"}


def in_little_memory(work: str, *arguments: str) -> str:
    """What a child prints that may use 1 GB beyond what its imports took."""
    code = (
        "import resource, sys\n"
        "from stepscope.errors import StepscopeError\n"
        "from stepscope.inspect.checkpoint import read_checkpoint\n"
        "from stepscope.profile.open import open_profile\n"
        "import torch, numpy\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        f"try: {work}\nexcept StepscopeError as fault: print(fault)\n"
        "print('grew', (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    said, _, grew = done.stdout.rpartition("grew")
    assert int(grew) < 300, done.stdout
    return said


def test_a_checkpoint_that_unfolds_to_gigabytes_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.pt", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open("archive/data.pkl", "w", force_zip64=True) as entry:
            for _ in range(40):
                entry.write(bytes(10 << 20))
        archive.writestr("archive/version", "3\n")
    assert (tmp_path / "bomb.pt").stat().st_size < 4 << 20
    said = in_little_memory("read_checkpoint(sys.argv[1])", str(tmp_path / "bomb.pt"))
    assert "would expand to 419,430,40" in said
    assert "If you trust it" in said


@pytest.mark.parametrize("name", ["a.pt", "a.safetensors", "a.bin"])
def test_a_checkpoint_that_is_no_file(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(StepscopeError):
        read_checkpoint(tmp_path / name)


@pytest.mark.parametrize("name", ["a.json", "a.json.gz", "a.prof", "a.pickle", "a.speedscope", "a.folded"])
def test_a_profile_that_is_no_file(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(StepscopeError):
        open_profile([tmp_path / name])
    with pytest.raises(StepscopeError):
        open_profile([tmp_path])


BROKEN: dict[str, str] = {
    "brackets": "[" * 200_000,
    "cut": '{"traceEvents": [',
    "numbers": "[1, 2, 3]",
    "lists": "[[1, 2], [3]]",
    "deep": '{"traceEvents": ' + "[" * 1000,
}


@pytest.mark.parametrize("scanner", ["auto", "wheel"])
@pytest.mark.parametrize("name", list(BROKEN))
def test_broken_json_is_no_empty_profile(tmp_path: Path, name: str, scanner: str) -> None:
    (tmp_path / "a.json").write_text(BROKEN[name])
    with pytest.raises(BadData, match="has no event that can be read"):
        read_trace(tmp_path / "a.json", scanner=scanner, cache=False)  # type: ignore[arg-type]


def test_a_trace_without_events_is_still_a_trace(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"traceEvents": []}')
    assert len(read_trace(tmp_path / "a.json", cache=False)) == 0


def reads_views(folder: Path) -> object:
    from stepscope.views.view_file import read_views

    return read_views(folder)


def reads_alerts(folder: Path) -> object:
    from stepscope.views.alert_log import AlertLog

    return list(AlertLog(folder / "views.json").history())


def reads_shares(folder: Path) -> object:
    from stepscope.report.shares import active_shares
    from stepscope.report.store import Found

    return list(active_shares(Found("r", folder)))


def reads_pages(folder: Path) -> object:
    from stepscope.server.pages import Pages

    return [one for one in [Pages(folder)._read(folder / "views.json")] if one is not None]


def reads_trace_cache(folder: Path) -> object:
    from stepscope.profile.trace.cache import Cache

    (folder / "a.json").write_text("{}")
    return [one for one in [Cache(folder / "a.json").load()] if one is not None]


@pytest.mark.parametrize("kind", ["pipe", "/dev/zero", "folder"])
@pytest.mark.parametrize("read", [reads_views, reads_alerts, reads_shares, reads_pages, reads_trace_cache])
def test_small_files_of_ours(tmp_path: Path, kind: str, read: Callable[[Path], object]) -> None:
    for name in ("views.json", "shares.jsonl", "a.json.stepscope"):
        path = tmp_path / name
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "folder":
            path.mkdir()
        else:
            path.symlink_to(kind)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert read(tmp_path) == []
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10
