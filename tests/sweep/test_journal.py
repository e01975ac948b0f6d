"""The journal: what a kill may tear, what two processes may not share, what names may not do."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepscope.errors import Conflict
from stepscope.sweep.journal import Journal, folder_of
from stepscope.sweep.trials import replay


def filled(folder: Path) -> Journal:
    journal = Journal(folder)
    journal.open()
    journal.write("sweep", raw={"runs": 2}, seed=1)
    journal.write("start", trial=0, attempt=1, params={"lr": 0.1, "limit": float("inf")})
    journal.write("process", trial=0, attempt=1, pid=41, pid_started=5.0)
    journal.write("end", trial=0, attempt=1, state="finished", value=0.5, run="/runs/A")
    journal.write("start", trial=1, attempt=1, params={"lr": 0.2})
    journal.close()
    return journal


def test_what_was_written_comes_back(tmp_path: Path) -> None:
    history = replay(filled(tmp_path / "s").read())
    assert history.seed == 1
    assert history.raw == {"runs": 2}
    assert history.next_number == 2
    first, second = history.trials[0], history.trials[1]
    assert (first.state, first.value, first.params, first.pid) == (
        "finished",
        0.5,
        {"lr": 0.1, "limit": float("inf")},
        41,
    )
    assert (second.state, second.is_over) == ("running", False)


def test_every_torn_end_is_read_as_if_the_last_line_were_not_there(tmp_path: Path) -> None:
    whole = filled(tmp_path / "s").path.read_bytes()
    for length in range(len(whole)):
        journal = Journal(tmp_path / "torn")
        journal.folder.mkdir(exist_ok=True)
        journal.path.write_bytes(whole[:length])
        lines = whole[:length].count(b"\n")
        entries = list(journal.read())
        assert len(entries) in (lines, lines + 1)  # a line that lacks only its end is whole


def test_a_sweep_goes_on_behind_a_torn_line(tmp_path: Path) -> None:
    journal = filled(tmp_path / "s")
    journal.path.write_bytes(journal.path.read_bytes()[:-20])
    journal.open()
    journal.write("end", trial=0, attempt=1, state="failed")
    journal.close()
    history = replay(journal.read())
    assert journal.torn == 1
    assert history.trials[0].state == "failed"
    assert 1 not in history.trials


def test_garbage_between_the_lines_is_counted_and_left_out(tmp_path: Path) -> None:
    journal = filled(tmp_path / "s")
    lines = journal.path.read_bytes().split(b"\n")
    journal.path.write_bytes(b"\n".join([lines[0], b"\x00\xff garbage", b"[1, 2]", b'{"event": 5}', *lines[1:]]))
    assert len(replay(journal.read()).trials) == 2
    assert journal.torn == 1


def test_two_at_once_are_one_too_many(tmp_path: Path) -> None:
    first, second = Journal(tmp_path / "s"), Journal(tmp_path / "s")
    first.open()
    with pytest.raises(Conflict, match="is being run already"):
        second.open()
    assert second.is_locked()
    first.close()
    assert not second.is_locked()
    second.open()
    second.close()


def test_a_sweep_put_aside_keeps_its_files(tmp_path: Path) -> None:
    journal = filled(tmp_path / "s")
    before = journal.path.read_bytes()
    aside = journal.put_aside()
    assert aside == tmp_path / "s.1"
    assert (aside / "journal.jsonl").read_bytes() == before
    assert not journal.exists
    filled(tmp_path / "s").put_aside()
    assert (tmp_path / "s.2").is_dir()


@pytest.mark.parametrize("name", ["..", "../../etc", "/etc/passwd", "a/b", "", ".", "a\0b", "x" * 500, "é", "\ud800"])
def test_no_name_leads_out_of_the_store(name: str, tmp_path: Path) -> None:
    folder = folder_of(tmp_path, name)
    assert folder.parent == tmp_path / ".sweeps"
    assert folder.name not in ("", ".", "..")
    assert len(folder.name) < 100
    assert folder_of(tmp_path, name) != folder_of(tmp_path, name + "2")
