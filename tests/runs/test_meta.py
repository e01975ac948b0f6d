"""`meta.json` cannot lie: a flipped bit or a cut is noticed, and what it said is read from the log."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import pytest
from tests.runs.making import make_run

from stepscope.errors import BadData, NotFound
from stepscope.records import RunMeta
from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.runs.catalogue.index import Index
from stepscope.runs.compact.compact import compact
from stepscope.runs.format.layout import META, create_run, log_files
from stepscope.runs.format.meta import known_meta, read_meta, repair_meta
from stepscope.runs.format.sealed import seal_of, sealed
from stepscope.runs.read.folder import open_run

CONFIG = {"lr": 0.125, "model/depth": 4, "name": "größe"}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return make_run(
        tmp_path, "digits", series={"loss": [1.0, 0.5]}, config=CONFIG, host="gpu7", packages={"torch": "2"}
    )


def flipped(data: bytes, bit: int) -> bytes:
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def test_every_flipped_bit_is_noticed_and_mended(run: Path) -> None:
    whole, expected = (run / META).read_bytes(), read_meta(run)
    told = 0
    for bit in range(8 * len(whole)):
        (run / META).write_bytes(flipped(whole, bit))
        known = known_meta(run)
        assert known.meta == expected, bit
        told += bool(known.problem)
    assert told == 8 * len(whole) > 1230


def test_every_cut_is_noticed_and_mended(run: Path) -> None:
    whole, expected = (run / META).read_bytes(), read_meta(run)
    for length in range(len(whole)):
        (run / META).write_bytes(whole[:length])
        assert known_meta(run) == (expected, "meta.json is damaged; its content was read from the log"), length
    (run / META).unlink()
    assert known_meta(run) == (expected, "meta.json is missing; its content was read from the log")


def test_a_damaged_file_is_reported_with_the_run(run: Path, tmp_path: Path) -> None:
    assert open_run(run).damage.errors == ()
    whole = (run / META).read_bytes()
    (run / META).write_bytes(whole.replace(b"0.125", b"4.125"))
    folder = open_run(run)
    assert (folder.config, folder.name) == (CONFIG, "digits")
    assert folder.damage.errors == ("meta.json is damaged; its content was read from the log",)
    with Catalogue(tmp_path, index=Index(tmp_path / "cache")) as catalogue:
        [entry] = catalogue.entries()
        assert entry.config == CONFIG


@pytest.mark.parametrize("damage", ["flip", "empty", "missing"])
def test_compaction_puts_it_back(run: Path, damage: str) -> None:
    whole = (run / META).read_bytes()
    if damage == "missing":
        (run / META).unlink()
    else:
        (run / META).write_bytes(flipped(whole, 99) if damage == "flip" else b"")
    compact(run)
    assert (run / META).read_bytes() == whole
    assert open_run(run).damage.errors == ()
    assert (run / "meta.json.damaged").exists() == (damage != "missing")
    assert not repair_meta(run)


def test_the_copy_survives_compaction(tmp_path: Path) -> None:
    run = make_run(tmp_path, "long", series={"loss": [float(n) for n in range(9000)]}, config=CONFIG)
    expected = read_meta(run)
    assert compact(run).files == 1
    assert log_files(run) == []
    (run / META).write_bytes(b"{}")
    assert known_meta(run).meta == expected


def test_the_copy_is_found_behind_a_damaged_header(run: Path) -> None:
    expected = read_meta(run)
    (run / META).write_bytes(b"")
    [log] = log_files(run)
    log.write_bytes(flipped(log.read_bytes(), 200))
    assert known_meta(run).meta == expected


def test_a_copy_that_is_damaged_too_is_not_believed(run: Path) -> None:
    (run / META).write_bytes((run / META).read_bytes().replace(b"0.125", b"4.125"))
    [log] = log_files(run)
    log.write_bytes(log.read_bytes().replace(b"0.125", b"8.125"))
    with pytest.raises(BadData, match=r"is damaged: it does not match its checksum, and the run's logs hold no copy"):
        open_run(run)
    text = (run / META).read_text()
    (run / META).write_text(re.sub(r',\n "checksum": .*', "", text))  # as the message says
    assert open_run(run).config["lr"] == 4.125


def test_an_old_file_that_is_wrong_says_what_to_do_and_that_helps(tmp_path: Path) -> None:
    run = make_run(tmp_path, "old", series={"loss": [0.5, 0.25]})
    (run / META).write_text('{"id": "x", "project": 3}')
    for log in log_files(run):  # as runs from before have no copy of it
        log.write_bytes(log.read_bytes().replace(b'"project"', b'"pro?ect"'))
    with pytest.raises(BadData, match="Expected `str`, got `int`") as caught:
        open_run(run)
    advice = str(caught.value)
    assert "or correct it in a text editor" in advice
    (run / META).write_text(advice.rpartition("content with ")[2])
    read = open_run(run)
    assert (read.name, read.meta.project, read.series("loss").values.tolist()) == (run.name, "restored", [0.5, 0.25])


def test_runs_from_before_the_checksum_still_open(tmp_path: Path) -> None:
    run = make_run(tmp_path, "old", config=CONFIG)
    meta = msgspec.to_builtins(read_meta(run))
    for log in log_files(run):
        log.unlink()
    (run / META).write_text(json.dumps(meta, indent=1))
    assert known_meta(run) == (msgspec.convert(meta, RunMeta), "")
    (run / META).write_text(json.dumps(meta)[:-1])
    with pytest.raises(BadData, match=r"meta\.json cannot be read"):
        open_run(run)


def test_a_folder_without_anything_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        read_meta(tmp_path)


def test_other_tools_still_read_it(tmp_path: Path) -> None:
    path = create_run(tmp_path, RunMeta(id="01JCQ4ZZZZZZZZZZZZZZZZZZZZ", project="p", name="n", created=1.0))
    said = json.loads((path / META).read_text())
    assert said.pop("checksum").startswith("crc32 ")
    assert said == {"id": path.name, "project": "p", "name": "n", "created": 1.0}


def test_what_has_a_seal_and_what_has_not() -> None:
    assert sealed(b'{"a": 1}') == b'{"a": 1,\n "checksum": "crc32 7aa88204"\n}'
    assert seal_of(sealed(b'{"a": 1}')) == "sound"
    assert seal_of(b'{"a": 1}') == "unsealed"
    assert seal_of(sealed(b'{"a": 1}').replace(b"checksum", b"checjsum")) == "damaged"
    for wrong in (b"[]", b"{}", b"1", b""):
        with pytest.raises(ValueError, match="only an object"):
            sealed(wrong)
