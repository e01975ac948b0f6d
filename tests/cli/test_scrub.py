"""A secret that got through is taken out everywhere, and nothing else is."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import stepscope
from stepscope.cli.main import commands
from stepscope.errors import UsageError
from stepscope.runs.format import layout
from stepscope.runs.read.folder import open_run
from stepscope.runs.scrub.needle import Needle
from stepscope.runs.scrub.scrub import scrub_run

SECRET = "bluefish/swordtail"  # looks like a name: masking lets it through


@pytest.fixture
def caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "caches"
    monkeypatch.setenv("STEPSCOPE_CACHE", str(folder))
    return folder


def planted(store: Path, tmp_path: Path) -> Path:
    """A run with the secret in every kind of place."""
    for name, content in (("notes.txt", SECRET.encode()), ("log.gz", gzip.compress(b"x " + SECRET.encode()))):
        (tmp_path / name).write_bytes(content)
    with stepscope.init(
        dir=store, name="leaky", config={"place": SECRET, "deep": {"list": [SECRET]}}, notes=f"see {SECRET}",
        tags=[SECRET], system=False, git=False, console=False,
    ) as run:  # fmt: skip
        for step in range(300):
            run.log({"loss": 1 / (step + 1), f"acc/{SECRET}": float(step)})
        run.log({"text": f"short {SECRET}", "long": f"{SECRET} " + "word " * 20_000})
        run.log_artifact(tmp_path / "notes.txt", name="notes")
        run.log_artifact(tmp_path / "log.gz", name="packed")
        run.alert("look", f"bluefish%2Fswordtail and {SECRET}")
        path = run.path
    assert path is not None
    return path


def everywhere(*folders: Path) -> list[Path]:
    wanted = (SECRET.encode(), b"bluefish%2Fswordtail")
    return [
        path
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and any(each in _opened(path.read_bytes()) for each in wanted)
    ]


def _opened(data: bytes) -> bytes:
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def scrub(store: Path, *arguments: str) -> Result:
    return CliRunner().invoke(commands, ["scrub", "leaky", *arguments, "--dir", str(store)])


@pytest.mark.parametrize("compacted", [False, True])
def test_it_is_gone_everywhere_and_every_point_is_kept(
    store: Path, tmp_path: Path, caches: Path, compacted: bool
) -> None:
    path = planted(store, tmp_path)
    if compacted:
        CliRunner().invoke(commands, ["compact", "--dir", str(store)])
    (store / "reports" / "one").mkdir(parents=True)
    (store / "reports" / "one" / "000001.md").write_text(f"# About {SECRET}\n")
    CliRunner().invoke(commands, ["runs", "--dir", str(store)])  # fills the index
    before = open_run(path).series("loss")
    assert everywhere(store)
    assert everywhere(caches)
    done = scrub(store, SECRET)
    assert done.exit_code == 0, done.output
    assert "and verified" in done.output
    assert everywhere(store, caches) == []
    run = open_run(path)
    assert run.series("loss").values.tolist() == before.values.tolist()
    assert run.series("acc/***").values.tolist() == [float(step) for step in range(300)]
    assert run.meta.config["place"] == "***"
    assert run.notes == "see ***"
    assert run.holes == 0
    assert [run.media_bytes(media) for media in run.media()]
    restored = CliRunner().invoke(
        commands, ["restore", "leaky", "notes", "--dir", str(store), "-o", str(tmp_path / "back")]
    )
    assert restored.exit_code == 0, restored.output
    assert (tmp_path / "back" / "notes.txt").read_text() == "***"
    assert scrub(store, SECRET).output.strip() == "it does not occur in this run"


def test_a_dry_run_changes_nothing(store: Path, tmp_path: Path, caches: Path) -> None:
    path = planted(store, tmp_path)
    before = {each: each.read_bytes() for each in path.rglob("*") if each.is_file()}
    done = scrub(store, SECRET, "--dry-run", "--json")
    assert json.loads(done.output)["found"]["meta.json"] == 4
    assert {each: each.read_bytes() for each in path.rglob("*") if each.is_file()} == before


def test_a_run_that_is_being_written_is_refused(store: Path, caches: Path) -> None:
    run = stepscope.init(dir=store, name="leaky", notes=SECRET, system=False, git=False, console=False)
    done = scrub(store, SECRET)
    run.finish()
    assert done.exit_code != 0
    assert "is being written; stop it first" in str(done.exception or done.output) + done.output
    assert everywhere(store)


@pytest.mark.parametrize("fails_at", range(8))
def test_interrupted_anywhere_the_run_is_whole_and_the_next_time_finishes(
    store: Path, tmp_path: Path, caches: Path, monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    path = planted(store, tmp_path)
    left = [fails_at]
    replace = os.replace

    def failing(source: Path, target: Path) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device")
        replace(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(layout.os, "replace", failing)
        try:
            scrub_run(path, Needle(SECRET))
        except OSError:
            pass
    run = open_run(path)
    assert len(run.series("loss").values) == 300
    for media in run.media():
        run.media_bytes(media)
    scrub_run(path, Needle(SECRET))
    assert everywhere(path) == []


def test_patterns_that_would_blank_out_everything_are_refused() -> None:
    for pattern, is_regex in (("ab", False), ("x*", True), ("(", True)):
        with pytest.raises(UsageError):
            Needle(pattern, is_regex)


def test_a_regular_expression_and_other_bytes() -> None:
    needle = Needle(r"sk-[a-z0-9]+", is_regex=True)
    assert needle.clean_bytes(b"a sk-abc1 b") == (b"a *** b", 1)
    assert needle.clean_bytes(b"\xff\x00sk-abc1\xfe") == (b"\xff\x00*******\xfe", 1)
