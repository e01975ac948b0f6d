"""W&B's file as it grows, is cut off, or is damaged: nothing is wrong, nothing comes twice, what is lost is told."""

from __future__ import annotations

import json
import os
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from stepscope.eventfiles.wire import message, put_bytes, put_double, put_int, put_text
from stepscope.importers import wandb
from stepscope.importers.import_writer import Landing
from stepscope.runs.catalogue.run_list import runs
from stepscope.runs.read.folder import RunFolder

BLOCK = 32768
START = 1_700_000_000


class Log:
    """Writes what W&B writes: records in blocks, cut where a block ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b":W&B\xe1\xbe\x00")

    def add(self, record: bytes) -> None:
        at = self.path.stat().st_size
        out, first = bytearray(), True
        while True:
            room = BLOCK - at % BLOCK
            if room < 7:
                out += bytes(room)
                at += room
                continue
            part, record = record[: room - 7], record[room - 7 :]
            kind = (1 if not record else 2) if first else (4 if not record else 3)
            out += struct.pack("<IHB", zlib.crc32(bytes([kind]) + part), len(part), kind) + part
            at, first = at + 7 + len(part), False
            if not record:
                break
        with self.path.open("ab") as stream:
            stream.write(out)

    def run(self, name: str = "one", **config: Any) -> None:
        start = message(17, [put_int(1, START)])
        items = [message(1, [put_text(1, key), put_text(16, json.dumps(value))]) for key, value in config.items()]
        self.add(message(17, [put_text(1, "id1"), put_text(3, "p"), message(4, items), put_text(8, name), start]))

    def row(self, step: int, **values: Any) -> None:
        values = {**values, "_step": step, "_timestamp": START + step}
        items = [message(1, [put_text(2, key), put_text(16, json.dumps(value))]) for key, value in values.items()]
        self.add(message(2, [*items, message(2, [put_int(1, step)])]))

    def end(self, code: int = 0) -> None:
        self.add(message(18, [put_int(1, code)]))


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path / "wandb" / "offline-run-20231114_220000-id1" / "run-id1.wandb")


def look(log: Log, landing: Landing | None = None) -> tuple[RunFolder, Any]:
    root = log.path.parents[2]
    store = root / "store"
    store.mkdir(exist_ok=True)
    if landing is None:
        source = wandb.find(root / "wandb")
        assert source is not None
        landing = Landing(source, store)
        landed = landing.look()
    else:
        landed = landing.look(follow=True)
    (run,) = runs(store)
    return run, landed


def test_a_growing_file_is_read_on_whole_record_by_whole_record(log: Log) -> None:
    log.run(lr=0.1)
    for step in range(10):
        log.row(step, loss=1 / (step + 1))
    whole = log.path.read_bytes()
    log.path.write_bytes(whole[:-3])  # the last record is still being written
    source = wandb.find(log.path.parents[1])
    assert source is not None
    landing = Landing(source, log.path.parents[2] / "store")
    run, landed = look(log, landing)
    assert (run.series("loss").steps.tolist(), landed.troubles) == (list(range(9)), [])
    log.path.write_bytes(whole)
    log.row(10, loss=0.5)
    log.end()
    run, landed = look(log, landing)
    assert (landed.points, run.series("loss").steps.tolist()) == (2, list(range(11)))
    assert (run.status, run.config) == ("finished", {"lr": 0.1})
    landing.close()
    run, landed = look(log)  # another process, later
    assert (landed.points, landed.new_runs) == (0, 0)


def test_damage_costs_the_block_it_lies_in_and_is_told(log: Log) -> None:
    log.run()
    for step in range(3000):
        log.row(step, loss=float(step), text="words " * 5)
    log.end()
    data = bytearray(log.path.read_bytes())
    assert len(data) > 6 * BLOCK
    data[2 * BLOCK + 100 : 2 * BLOCK + 140] = bytes(40)
    log.path.write_bytes(data)
    run, landed = look(log)
    series = run.series("loss")
    assert series.values.tolist() == [float(step) for step in series.steps]
    assert 2500 < len(series) < 3000
    assert len(landed.troubles) >= 1
    assert all("damaged and were skipped" in line for line in landed.troubles)
    assert run.status == "finished"


def test_a_file_without_an_end_belongs_to_a_process_that_is_gone(log: Log) -> None:
    log.run()
    log.row(0, loss=1.0)
    with log.path.open("ab") as stream:
        stream.write(b"\x01\x02")
    long_ago = START + 100
    os.utime(log.path, (long_ago, long_ago))
    run, landed = look(log)
    assert run.status == "failed"
    assert landed.troubles == [f"{log.path}: the last 2 bytes are truncated or damaged and were skipped"]
    _, landed = look(log)
    assert landed.troubles == []


def test_typed_values_of_newer_versions_are_read(log: Log) -> None:
    log.run()
    items = [
        message(1, [put_text(2, "number"), put_double(6, 0.25)]),
        message(1, [put_text(2, "whole"), put_int(5, (2**60 + 1) << 1)]),
        message(1, [put_text(2, "negative"), put_int(5, 7)]),
        message(1, [put_text(2, "flag"), put_int(4, 1)]),
        message(1, [put_text(2, "nested"), put_text(2, "text"), put_text(7, "words")]),
        message(1, [put_text(2, "_step"), put_int(5, 6)]),
    ]
    log.add(message(2, items))
    run, _ = look(log)
    assert run.series("number").values.tolist() == [0.25]
    assert run.series("whole").exact == {0: 2**60 + 1}
    assert run.series("negative").values.tolist() == [-4.0]
    assert run.series("flag").steps.tolist() == [3]
    assert run.media_keys() == {"nested.text": "text"}


def test_media_that_lead_out_of_the_folder_are_refused(log: Log, tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (log.path.parent / "files").mkdir()
    log.run()
    for path in ("../../../secret.png", str(tmp_path / "secret.png"), "media/none.png"):
        log.row(0, picture={"_type": "image-file", "path": path}, loss=1.0)
    run, landed = look(log)
    assert run.media_keys() == {}
    assert len(run.series("loss")) == 3
    reasons = [line.rpartition("lies ")[2] or line for line in landed.troubles]
    assert len(reasons) == 3
    assert sum("outside the run's folder" in line for line in landed.troubles) == 2


def test_other_files_are_not_taken_for_runs(tmp_path: Path) -> None:
    assert wandb.find(tmp_path) is None
    odd = tmp_path / "run-x.wandb"
    odd.write_bytes(b"something else")
    source = wandb.find(odd)
    assert source is not None
    assert list(source.runs()) == []
    assert source.troubles() == [f"{odd} does not start like a W&B file"]


@settings(max_examples=60)
@given(data=st.data())
def test_no_damage_gives_a_wrong_value_or_an_error(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    log = Log(tmp_path_factory.mktemp("fuzz") / "wandb" / "run-1-id1" / "run-id1.wandb")
    log.run(lr=0.1)
    for step in range(40):
        log.row(step, loss=step * 0.5, hist={"_type": "histogram", "values": [1, 2], "bins": [0, 1, 2]})
    log.add(put_bytes(7, b"\xff" * 9))
    log.end()
    raw = bytearray(log.path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at] = data.draw(st.integers(0, 255))
    log.path.write_bytes(raw[: data.draw(st.integers(7, len(raw)))])
    source = wandb.find(log.path)
    assert source is not None
    for run in source.runs():
        for piece in source.read(run, None):
            values = getattr(piece, "values", None)
            if getattr(piece, "name", "") == "loss" and values is not None:
                assert values.tolist() == [step * 0.5 for step in piece.steps]  # type: ignore[union-attr]
