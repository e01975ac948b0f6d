"""TensorBoard folders: which folders are runs, what restarts and damage do, and looks that follow each other."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from stepscope.errors import Conflict, NotFound, UsageError
from stepscope.eventfiles import write
from stepscope.eventfiles.records import encode_record
from stepscope.eventfiles.tensors import encode_tensor
from stepscope.eventfiles.wire import message, put_bytes, put_double, put_float, put_int, put_text
from stepscope.importers.detect import find_sources
from stepscope.importers.import_writer import Landed, Landing
from stepscope.importers.tensorboard import TensorBoardSource, named_folders
from stepscope.profile.profile import profiles_in
from stepscope.profile.store import read_meta
from stepscope.runs.catalogue.run_list import runs
from stepscope.runs.compact.compact import compact
from stepscope.runs.read.folder import RunFolder
from stepscope.server.follow import followed_stores, imported_store

START = 1_700_000_000.0


def scalar(tag: str, step: int, value: float) -> bytes:
    return write.event(START + step, step, put_text(1, tag) + put_float(2, value))


def points(tag: str, steps: range) -> bytes:
    return b"".join(scalar(tag, step, step / 2) for step in steps)


def log(folder: Path, data: bytes, name: str = "events.out.tfevents.1") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    fresh = not path.exists()
    with path.open("ab") as out:
        out.write((write.version(START) if fresh else b"") + data)
    return path


def hparams(**settings: object) -> bytes:
    return b"".join(write.event(START, 0, value) for value in write.hparams(settings, ["acc"], START, None, False))


def look(folder: Path, store: Path) -> tuple[Landed, dict[str, RunFolder]]:
    landed = Landing(TensorBoardSource(folder), store).look()
    return landed, {run.name: run for run in runs(store)}


def test_each_folder_is_a_run_named_by_its_path(tmp_path: Path) -> None:
    log(tmp_path / "logs", points("loss", range(3)))
    log(tmp_path / "logs" / "vae" / "wide", points("loss", range(4)))
    (tmp_path / "logs" / "notes").mkdir()
    landed, found = look(tmp_path / "logs", tmp_path / "store")
    assert {name: len(run.series("loss").values) for name, run in found.items()} == {"logs": 3, "vae/wide": 4}
    assert {run.project for run in found.values()} == {"logs"}
    assert found["vae/wide"].meta.group == "vae"
    assert found["logs"].created == START
    assert (landed.new_runs, landed.points, landed.troubles) == (2, 7, [])


def test_several_files_of_a_folder_are_one_run_in_their_order(tmp_path: Path) -> None:
    log(tmp_path / "logs", points("loss", range(10, 20)), "events.out.tfevents.2")
    log(tmp_path / "logs", points("loss", range(10)), "events.out.tfevents.1")
    _, found = look(tmp_path / "logs", tmp_path / "store")
    assert found["logs"].series("loss").steps.tolist() == list(range(20))


def test_one_event_file_can_be_given(tmp_path: Path) -> None:
    path = log(tmp_path / "logs", points("loss", range(5)))
    _, found = look(path, tmp_path / "store")
    assert [len(run.series("loss").values) for run in found.values()] == [5]


def test_lines_of_add_scalars_belong_to_the_run_above(tmp_path: Path) -> None:
    log(tmp_path / "logs", points("other", range(3)))
    log(tmp_path / "logs" / "loss_x_train", points("loss/x", range(4)))
    log(tmp_path / "logs" / "loss" / "y" / "val", points("loss/y", range(5)))
    _, found = look(tmp_path / "logs", tmp_path / "store")
    assert list(found) == ["logs"]
    assert sorted(found["logs"].metrics()) == ["loss/x/train", "loss/y/val", "other"]


def test_the_first_hyperparameters_below_a_run_are_its_config_and_others_are_runs(tmp_path: Path) -> None:
    log(tmp_path / "logs" / "a", points("loss", range(3)))
    log(tmp_path / "logs" / "a" / "1700.1", hparams(lr=0.1, opt="adam") + scalar("acc", 0, 0.5))
    log(tmp_path / "logs" / "a" / "1700.2", hparams(lr=0.2, opt="sgd") + scalar("acc", 0, 0.25))
    _, found = look(tmp_path / "logs", tmp_path / "store")
    assert {name: dict(run.config) for name, run in found.items()} == {
        "a": {"lr": 0.1, "opt": "adam"},
        "a/1700.2": {"lr": 0.2, "opt": "sgd"},
    }
    assert found["a"].series("acc").values.tolist() == [0.5]


def test_a_writer_that_only_made_others_is_no_run(tmp_path: Path) -> None:
    log(tmp_path / "logs", b"")
    for number in range(3):
        log(tmp_path / "logs" / f"1700.{number}", hparams(lr=number) + scalar("acc", 0, number))
    _, found = look(tmp_path / "logs", tmp_path / "store")
    assert sorted(run.config["lr"] for run in found.values()) == [0, 1, 2]


def test_a_second_look_adds_only_what_is_new(tmp_path: Path) -> None:
    path = log(tmp_path / "logs", points("loss", range(10)))
    look(tmp_path / "logs", tmp_path / "store")
    half = scalar("loss", 10, 5.0)
    with path.open("ab") as out:
        out.write(half[:20])
    assert look(tmp_path / "logs", tmp_path / "store")[0].points == 0
    with path.open("ab") as out:
        out.write(half[20:])
    log(tmp_path / "logs", points("loss", range(11, 13)), "events.out.tfevents.2")
    landed, found = look(tmp_path / "logs", tmp_path / "store")
    assert (landed.new_runs, landed.points) == (0, 3)
    assert found["logs"].series("loss").steps.tolist() == list(range(13))


def test_damage_is_told_and_stepped_over(tmp_path: Path) -> None:
    path = log(tmp_path / "logs", points("loss", range(100)))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 255
    path.write_bytes(bytes(data) + b"\x01\x02\x03")
    os.utime(path, (START, START))
    landed, found = look(tmp_path / "logs", tmp_path / "store")
    assert len(found["logs"].series("loss").values) == 99
    assert len(landed.troubles) == 2
    assert "it was skipped" in landed.troubles[0] or "they were skipped" in landed.troubles[0]
    assert "the last 3 bytes" in landed.troubles[1]


def test_an_announced_restart_is_another_attempt(tmp_path: Path) -> None:
    restart = encode_record(put_double(1, START) + put_int(2, 5) + put_bytes(7, put_int(1, 1)))
    log(tmp_path / "logs", restart + points("loss", range(10)) + restart + points("loss", range(5, 8)))
    _, found = look(tmp_path / "logs", tmp_path / "store")
    run = found["logs"]
    assert run.series("loss").steps.tolist() == list(range(8))
    assert len(run.series("loss", superseded=True).values) == 13
    assert [attempt.attempt for attempt in run.attempts] == [0, 1]
    assert run.status == "finished"


def test_a_restart_at_the_end_of_a_look_is_remembered(tmp_path: Path) -> None:
    restart = encode_record(put_double(1, START) + put_int(2, 5) + put_bytes(7, put_int(1, 1)))
    log(tmp_path / "logs", points("loss", range(10)) + restart)
    look(tmp_path / "logs", tmp_path / "store")
    log(tmp_path / "logs", points("loss", range(5, 7)))
    _, found = look(tmp_path / "logs", tmp_path / "store")
    assert found["logs"].series("loss").steps.tolist() == list(range(7))


def test_what_no_kind_fits_is_kept_as_a_file(tmp_path: Path) -> None:
    plugin = message(9, [message(1, [put_text(1, "my_plugin")])])
    value = put_text(1, "odd") + put_bytes(8, encode_tensor(np.arange(3, dtype=np.float32))) + plugin
    broken = put_text(1, "image") + put_bytes(4, put_bytes(4, b"no picture"))
    bad = put_text(1, "bad") + put_bytes(5, put_bytes(6, bytes(8)))
    log(tmp_path / "logs", b"".join(write.event(START, 1, one) for one in (value, broken, bad)))
    landed, found = look(tmp_path / "logs", tmp_path / "store")
    assert {media.key: media.meta for media in found["logs"].media()} == {
        "odd": {"name": "my_plugin.npy", "plugin": "my_plugin", "shape": [3]},
        "image": {"name": "image.bin"},
    }
    assert len(landed.troubles) == 1
    assert "'bad'" in landed.troubles[0]


def test_hostile_names_do_no_harm(tmp_path: Path) -> None:
    names = ["../../etc", "", "a\x00b", "x" * 5000, "<script>", "\N{SNOWMAN}"]
    log(tmp_path / "logs", b"".join(scalar(name, 1, 1.0) for name in names))
    _, found = look(tmp_path / "logs", tmp_path / "store")
    assert set(found["logs"].metrics()) == {*names} - {""} | {"unnamed"}


def test_times_that_are_no_times_do_no_harm(tmp_path: Path) -> None:
    times = [float("nan"), float("inf"), -1.0, 1e300, START]
    data = [write.event(at, step, put_text(1, "loss") + put_float(2, 1.0)) for step, at in enumerate(times)]
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "events.out.tfevents.1").write_bytes(write.version(1e300) + b"".join(data))
    _, found = look(tmp_path / "logs", tmp_path / "store")
    np.testing.assert_array_equal(found["logs"].series("loss").times, times)
    assert found["logs"].status == "finished"
    landed, found = look(tmp_path / "logs", tmp_path / "store")
    assert (landed.points, len(found)) == (0, 1)


def test_two_imports_at_once_are_refused(tmp_path: Path) -> None:
    log(tmp_path / "logs", points("loss", range(3)))
    first = Landing(TensorBoardSource(tmp_path / "logs"), tmp_path / "store")
    first.look(follow=True)
    with pytest.raises(Conflict, match="another process"):
        look(tmp_path / "logs", tmp_path / "store")
    first.close()
    look(tmp_path / "logs", tmp_path / "store")


def test_a_run_that_was_deleted_while_followed_stays_away(tmp_path: Path) -> None:
    import shutil

    log(tmp_path / "logs", points("loss", range(3)))
    landing = Landing(TensorBoardSource(tmp_path / "logs"), tmp_path / "store")
    (path,) = landing.look().runs
    shutil.rmtree(path)
    log(tmp_path / "logs", points("loss", range(3, 5)))
    assert landing.look().points == 0
    assert list(runs(tmp_path / "store")) == []


def test_many_small_pieces_are_compacted_to_the_same_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "START", time.time())  # it goes on now, so its files stay open
    landing = Landing(TensorBoardSource(tmp_path / "logs"), tmp_path / "store")
    for turn in range(30):
        log(tmp_path / "logs", points("loss", range(turn * 3, turn * 3 + 3)))
        (path,) = landing.look(follow=True).runs
    landing.close()
    before = columns(tmp_path / "store")
    done = compact(path)
    assert (done.files, done.skipped) == (1, {})
    assert done.bytes_after < done.bytes_before / 4
    assert columns(tmp_path / "store") == before
    log(tmp_path / "logs", points("loss", range(90, 92)))
    _, found = look(tmp_path / "logs", tmp_path / "store")
    assert found["logs"].series("loss").steps.tolist() == list(range(92))


def columns(store: Path) -> list[list[float]]:
    (run,) = runs(store)
    series = run.series("loss")
    return [series.steps.tolist(), series.times.tolist(), series.values.tolist()]


def test_names_before_paths(tmp_path: Path) -> None:
    log(tmp_path / "a", points("loss", range(3)))
    log(tmp_path / "b" / "c", points("loss", range(3)))
    sources = find_sources(f"base:{tmp_path / 'a'},wide:{tmp_path / 'b'}")
    for source in sources:
        Landing(source, tmp_path / "store").look()
    assert sorted(run.name for run in runs(tmp_path / "store")) == ["base", "wide/c"]
    assert named_folders(str(tmp_path / "a")) is None
    with pytest.raises(NotFound):
        find_sources(f"base:{tmp_path / 'nothing'},wide:{tmp_path / 'b'}")


def test_what_is_no_folder_of_runs_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is nothing at"):
        find_sources(str(tmp_path / "nothing"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotFound, match="has no runs of TensorBoard"):
        find_sources(str(tmp_path / "empty"))
    with pytest.raises(UsageError, match="choose one of"):
        find_sources(str(tmp_path / "empty"), "tensorbored")


def test_a_link_in_a_circle_ends(tmp_path: Path) -> None:
    log(tmp_path / "logs" / "a", points("loss", range(3)))
    (tmp_path / "logs" / "a" / "again").symlink_to(tmp_path / "logs")
    _, found = look(tmp_path / "logs", tmp_path / "store")
    assert list(found) == ["a"]


def test_serving_a_folder_imports_it_into_the_cache_and_follows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEPSCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("stepscope.server.follow.LOOK_S", 0.05)
    log(tmp_path / "logs", points("loss", range(3)))
    (tmp_path / "own").mkdir()
    said: list[str] = []
    with followed_stores([tmp_path / "own", str(tmp_path / "logs")], said.append) as stores:
        cache = imported_store(TensorBoardSource(tmp_path / "logs"))
        assert stores == [tmp_path / "own", cache]
        assert "TensorBoard" in said[0]
        _wait_for(cache, 3)
        log(tmp_path / "logs", points("loss", range(3, 8)))
        _wait_for(cache, 8)
    assert [run.status for run in runs(cache)] == ["finished"]
    assert not any(thread.name == "stepscope-follow" for thread in threading.enumerate())
    assert sorted(path.name for path in (tmp_path / "logs").iterdir()) == ["events.out.tfevents.1"]


def _wait_for(store: Path, count: int) -> None:
    until = time.monotonic() + 300
    while time.monotonic() < until:
        if [len(run.series("loss").values) for run in runs(store) if "loss" in run.metrics()] == [count]:
            return
        time.sleep(0.02)
    raise AssertionError(f"{count} points did not come")


def trace(path: Path, name: str = "aten::add") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    event = {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 10, "dur": 5}
    path.write_text(json.dumps({"traceEvents": [event]}))
    return path


def test_traces_of_profilers_become_profiles_of_the_run(tmp_path: Path) -> None:
    logs, store = tmp_path / "logs", tmp_path / "store"
    log(logs / "a", points("loss", range(3)))
    log(logs / "b", points("loss", range(3)))
    trace(logs / "a" / "host_1.1700000000.pt.trace.json")
    trace(logs / "b" / "plugins" / "profile" / "2026_01_01" / "one.trace.json", "aten::mul")
    trace(logs / "b" / "plugins" / "profile" / "2026_01_01" / "two.trace.json", "aten::mul")
    (logs / "a" / "broken.pt.trace.json").write_text("no trace")
    landed, found = look(logs, store)
    assert {name: len(profiles_in(run.path)) for name, run in found.items()} == {"a": 1, "b": 1}
    (both,) = profiles_in(found["b"].path)
    assert [file.rank for file in read_meta(both).files] == [0, 1]
    assert len(landed.troubles) == 1
    assert "broken.pt.trace.json" in landed.troubles[0]
    assert look(logs, store)[0].runs == []
    trace(logs / "a" / "host_1.1700000009.pt.trace.json")
    assert len(profiles_in(look(logs, store)[1]["a"].path)) == 2


def test_a_session_that_failed_is_a_failed_run(tmp_path: Path) -> None:
    started, group = put_bytes(3, put_text(4, "wide nets")), put_bytes(4, put_int(1, 2))
    records = [("_hparams_/session_start_info", started), ("_hparams_/session_end_info", group)]
    values = [
        put_text(1, tag) + put_bytes(9, put_bytes(1, put_text(1, "hparams") + put_bytes(2, content)))
        for tag, content in records
    ]
    log(
        tmp_path / "logs" / "x",
        points("loss", range(3)) + b"".join(write.event(START + 9, 0, value) for value in values),
    )
    log(tmp_path / "logs" / "y", points("loss", range(3)))
    _, found = look(tmp_path / "logs", tmp_path / "store")
    assert {name: run.status for name, run in found.items()} == {"x": "failed", "y": "finished"}
    assert found["x"].config == {"hparams_group": "wide nets"}


def test_an_embedding_comes_with_its_labels_and_its_sprite(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    log(logs, points("loss", range(2)))
    (logs / "tensors.tsv").write_text("1\t2\n3\t4\n")
    (logs / "labels.tsv").write_text("a\nb\n")
    (logs / "sprite.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(20))
    (logs / "projector_config.pbtxt").write_text(
        'embeddings {\n tensor_name: "words:3"\n tensor_path: "tensors.tsv"\n metadata_path: "labels.tsv"\n'
        ' sprite {\n  image_path: "sprite.png"\n  single_image_dim: 8\n  single_image_dim: 8\n }\n}\n'
        'embeddings { tensor_name: "out" tensor_path: "../../etc/passwd" sprite { image_path: "/etc/passwd" } }\n'
    )
    _, found = look(logs, tmp_path / "store")
    run = found["logs"]
    assert {key: run.media(key)[0].step for key in run.media_keys()} == {"words": 3, "words/sprite": 3}
    assert run.media_bytes(run.media("words/sprite")[0]) == (logs / "sprite.png").read_bytes()
