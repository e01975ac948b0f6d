"""A run that is on the disk is found, however busy the server is.

Under load a look at the stores takes seconds and the next waits ten times as long. Runs made in between, and runs
that a long first look had not reached, answered "there is no run".
"""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.runs.making import make_run

from stepscope.errors import NotFound
from stepscope.runs.catalogue import catalogue as catalogue_module
from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.runs.catalogue.index import Index


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    return Catalogue(tmp_path / "store", index=Index(tmp_path / "cache"))


def test_runs_that_a_long_first_look_has_not_reached(
    tmp_path: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue_module, "_PUBLISH_S", -1.0)  # show every run as soon as it is read
    ids = [make_run(tmp_path / "store", f"run{at}", series={"loss": [float(at)]}).name for at in range(4)]
    answers: list[dict[str, float]] = []

    def ask() -> None:
        answers.append({run: catalogue.entry(run).metrics["loss"].last for run in ids})

    def meanwhile(done: int, total: int) -> None:
        if done == 1:  # three are not read yet, and this look does not go on before everybody has an answer
            page = threading.Thread(target=ask)
            page.start()
            page.join(60)

    catalogue.refresh(meanwhile)
    assert answers == [dict(zip(ids, [0.0, 1.0, 2.0, 3.0], strict=True))]
    assert {entry.id for entry in catalogue.entries()} == set(ids)


@pytest.mark.parametrize("below", ["", "team/project"])
def test_runs_made_since_the_last_look(tmp_path: Path, catalogue: Catalogue, below: str) -> None:
    make_run(tmp_path / "store")
    catalogue.refresh()
    made = make_run(tmp_path / "store" / below, "new", series={"loss": [0.5]})
    assert catalogue.entry(made.name).path == made
    assert catalogue.get(made.name).series("loss").values.tolist() == [0.5]
    assert made.name in catalogue.refresh().changed
    assert len(catalogue) == 2


def test_what_the_disk_has_not_is_not_found(tmp_path: Path, catalogue: Catalogue) -> None:
    made = make_run(tmp_path / "store")
    catalogue.refresh()
    for name in ("01JCQ4ZZZZZZZZZZZZZZZZZZZZ", "..", "nothing", ""):
        with pytest.raises(NotFound):
            catalogue.entry(name)
    made.rename(tmp_path / made.name)
    catalogue.refresh()
    with pytest.raises(NotFound):
        catalogue.entry(made.name)


def test_too_many_open_files_make_no_run_disappear(
    tmp_path: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = {make_run(tmp_path / "store", series={"loss": [1.0]}).name for _ in range(3)}
    catalogue.refresh()

    def full(*_: Any, **__: Any) -> Any:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    for broken in ("scandir", "open"):
        with monkeypatch.context() as patch:
            patch.setattr(os, broken, full)
            for run in (tmp_path / "store").iterdir():
                os.utime(run / "meta.json")  # each has to be read again
            assert not catalogue.refresh().gone
            assert {entry.id for entry in catalogue.entries()} == ids
    catalogue.refresh()
    assert catalogue.problems == {}
    assert {entry.id for entry in catalogue.entries()} == ids
