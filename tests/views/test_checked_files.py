"""A flipped bit in any small file of a store is noticed: trash, views, alerts, imports, profiles, reports."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.runs.making import make_run

from stepscope.errors import BadData
from stepscope.importers.import_writer import Origin, _read_origin
from stepscope.profile.profile import Profile
from stepscope.profile.store import new_folder, read_meta as read_profile, write_meta, write_part
from stepscope.records.profile import ProfileMeta
from stepscope.report import store as reports
from stepscope.runs.format.sealed import sealed
from stepscope.runs.trash import move_to_trash, trashed_runs
from stepscope.views.alert_log import AlertLog, Watched
from stepscope.views.view_file import FILE, SavedView, change_views, read_views


def each_flip(path: Path, check: Callable[[int], None]) -> None:
    whole = path.read_bytes()
    for bit in range(0, 8 * len(whole), 3):  # every byte, at changing places
        changed = bytearray(whole)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(bytes(changed))
        check(bit)
    path.write_bytes(whole)


def test_the_trash_falls_back_to_the_run_itself(tmp_path: Path) -> None:
    gone = move_to_trash(make_run(tmp_path, "digits"))
    note = tmp_path / ".trash" / f"{gone.folder}.json"

    def check(bit: int) -> None:
        [found] = trashed_runs([tmp_path])
        assert (found.id, found.name, found.project) == (gone.id, "digits", "p")

    each_flip(note, check)
    assert trashed_runs([tmp_path]) == [gone]


def test_saved_views_are_read_from_their_copy(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    view = SavedView(id="A" * 26, name="best", page="/runs", query={"q": "loss < 0.3"}, changed=1.0)
    change_views(tmp_path, lambda views: [view])

    def check(bit: int) -> None:
        assert read_views(tmp_path) == [view]

    with caplog.at_level(logging.WARNING):
        each_flip(tmp_path / FILE, check)
    assert "their copy was read instead" in caplog.text
    (tmp_path / FILE).write_bytes(b"{")
    other = SavedView(id="B" * 26, name="worst", page="/runs", query={})
    assert change_views(tmp_path, lambda views: [*views, other]) == [view, other]
    assert [path.name[:16] for path in tmp_path.glob("views-*")] == ["views-unreadable"]


def test_views_from_before_the_checksum_still_open(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"views": [{"id": "A", "name": "n", "page": "/runs", "query": {}}]}')
    assert [view.name for view in read_views(tmp_path)] == ["n"]


def test_alerts_are_forgotten_rather_than_changed(tmp_path: Path) -> None:
    log = AlertLog(tmp_path / "alerts.json")
    log.running["r"] = Watched("running", 0, 5.0)
    log.new([])
    assert not AlertLog(tmp_path / "alerts.json").fresh

    def check(bit: int) -> None:
        assert AlertLog(tmp_path / "alerts.json").fresh

    each_flip(tmp_path / "alerts.json", check)


def test_the_origin_of_an_import(tmp_path: Path) -> None:
    path = tmp_path / "import.json"
    path.write_bytes(sealed(b'{"kind": "mlflow", "path": "/x", "key": "k", "cursor": 12}'))
    assert _read_origin(path) == Origin("mlflow", "/x", "k", 12)

    def check(bit: int) -> None:
        with pytest.raises(BadData):
            _read_origin(path)

    each_flip(path, check)


def test_a_profile_and_its_parts(tmp_path: Path) -> None:
    folder = new_folder(tmp_path, "p1", 0)
    write_part(folder, "rank0.facts.json", {"workers": 4})
    write_meta(folder, ProfileMeta(id="p1", kind="simple", created=1.0, why="asked"))
    assert Profile.load(folder).facts() == {"workers": 4}

    def no_meta(bit: int) -> None:
        with pytest.raises(BadData):
            read_profile(folder)

    def no_facts(bit: int) -> None:
        with pytest.raises(BadData, match="does not match its checksum"):
            Profile.load(folder).facts()

    each_flip(folder / "profile.json", no_meta)
    each_flip(folder / "rank0.facts.json", no_facts)


def test_a_report_that_was_changed_says_so(tmp_path: Path) -> None:
    found, version = reports.save([tmp_path], "# Digits\nlr 0.125\n", "Digits")
    assert reports.read(version) == "# Digits\nlr 0.125\n"

    def check(bit: int) -> None:
        assert "Not as saved" in reports.read(version)

    each_flip(version.path, check)
    assert len(found.versions()) == 1
