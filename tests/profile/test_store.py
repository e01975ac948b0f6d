"""A profile's folder: found by listing, shared by ranks, whole or not there."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from stepscope.errors import BadData, NotFound
from stepscope.profile.profile import Profile, profiles_in
from stepscope.profile.store import PROFILES, is_profile_folder, new_folder, read_meta, write_meta, write_part
from stepscope.profile.trace.build import Builder
from stepscope.profile.trace.columns import save_events
from stepscope.records.profile import ProfileFile, ProfileMeta


def meta(id: str = "step-000003", **more: object) -> ProfileMeta:
    return ProfileMeta(id=id, kind="pytorch", created=1.0, **more)  # type: ignore[arg-type]


def table(name: str, start: int = 0) -> Builder:
    builder = Builder()
    builder.add(name, "cpu_op", start=start, dur=5, pid=1, tid=1)
    return builder


def test_ranks_meet_in_one_folder_and_each_adds_its_files(tmp_path: Path) -> None:
    folders = {rank: new_folder(tmp_path, "step-000003", rank) for rank in (2, 0, 1)}
    assert len(set(folders.values())) == 1
    folder = folders[0]
    for rank in folders:
        save_events(table(f"op of {rank}").events(), folder / f"rank{rank}.events")
        write_meta(folder, meta(world=3, notes=[f"from {rank}", "from all"]), rank)
    profile = Profile.load(folder)
    assert profile.ranks == [0, 1, 2]
    assert profile.meta.world == 3
    assert profile.meta.notes == ["from 0", "from all", "from 1", "from 2"]
    names = [trace.events.names for rank in profile.ranks if (trace := profile.trace(rank)) is not None]
    assert names == [("op of 0",), ("op of 1",), ("op of 2",)]


def test_a_rank_alone_has_a_profile_too(tmp_path: Path) -> None:
    folder = new_folder(tmp_path, "step-000007", 3)
    assert not is_profile_folder(folder)
    write_part(folder, "rank3.facts.json", {"a": 1})
    write_meta(folder, meta(), 3)
    assert profiles_in(tmp_path) == [folder]
    assert Profile.load(folder).facts(3) == {"a": 1}
    assert Profile.load(folder).meta.world == 4


def test_the_same_step_again_is_another_profile(tmp_path: Path) -> None:
    first = new_folder(tmp_path, "step-000003", 0)
    write_meta(first, meta(), 0)
    second = new_folder(tmp_path, "step-000003", 0)
    assert (first.name, second.name) == ("step-000003", "step-000003-2")
    assert new_folder(tmp_path, "step-000003", 1) == first  # that rank was not there yet


def test_files_that_come_later_are_found(tmp_path: Path) -> None:
    folder = new_folder(tmp_path, "x", 0)
    write_meta(folder, meta(), 0)
    assert read_meta(folder).files == []
    save_events(table("aten::add").events(), folder / "rank0.events")
    save_events(table("forward", 7).events(), folder / "rank0.phase.events")
    profile = Profile.load(folder)
    assert [(file.name, file.kind) for file in profile.meta.files] == [
        ("rank0.events", "events"),
        ("rank0.phase.events", "events"),
    ]
    trace = profile.trace()
    assert trace is not None
    assert set(trace.events.names) == {"aten::add", "forward"}


def test_a_trace_without_columns_is_read_itself(tmp_path: Path) -> None:
    folder = new_folder(tmp_path, "x", 0)
    write_part(
        folder, "rank0.trace.json", {"traceEvents": [{"ph": "X", "name": "op", "cat": "cpu_op", "ts": 1, "dur": 2}]}
    )
    save_events(table("forward").events(), folder / "rank0.phase.events")
    write_meta(folder, meta(), 0)
    trace = Profile.load(folder).trace()
    assert trace is not None
    assert set(trace.events.names) == {"op", "forward"}


def test_a_trace_is_read_itself_where_its_columns_are_damaged(tmp_path: Path) -> None:
    folder = new_folder(tmp_path, "x", 0)
    write_part(folder, "rank0.events", b"SSEVENTS of another age")
    write_meta(folder, meta(), 0)
    with pytest.raises(BadData):
        Profile.load(folder).trace()
    write_part(
        folder, "rank0.trace.json", {"traceEvents": [{"ph": "X", "name": "op", "cat": "cpu_op", "ts": 1, "dur": 2}]}
    )
    trace = Profile.load(folder).trace()
    assert trace is not None
    assert trace.events.names == ("op",)


def test_names_outside_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text("{}")
    folder = new_folder(tmp_path, "x", 0)
    files = [ProfileFile(name="../../secret.json", kind="facts"), ProfileFile(name="rank0.facts.json", kind="facts")]
    write_meta(folder, meta(files=files), 0)
    os.symlink(tmp_path / "secret.json", folder / "rank1.facts.json")
    assert read_meta(folder).files == []


@pytest.mark.parametrize(
    "text", [b"", b"{", b'{"id": 3}', b'{"id":"x","kind":"pytorch","created":1,"options":{"a":' + b"[" * 5000]
)
def test_a_damaged_description_is_said(tmp_path: Path, text: bytes) -> None:
    folder = new_folder(tmp_path, "x", 0)
    (folder / "profile.json").write_bytes(text)
    with pytest.raises(BadData, match=r"profile\.json is damaged"):
        Profile.load(folder)


def test_a_folder_without_one_is_no_profile(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"no profile\.json"):
        Profile.load(tmp_path)
    os.symlink(tmp_path, tmp_path / "link")
    assert not is_profile_folder(tmp_path / "link")


def test_damaged_phases_are_said(tmp_path: Path) -> None:
    folder = new_folder(tmp_path, "x", 0)
    write_part(folder, "rank0.phases", msgspec.msgpack.encode({"id": 3}))
    write_meta(folder, meta(), 0)
    with pytest.raises(BadData, match="phases of rank 0"):
        Profile.load(folder).phases()


def test_only_we_can_look_into_it(tmp_path: Path) -> None:
    folder = new_folder(tmp_path, "x", 0)
    write_meta(folder, meta(), 0)
    assert (tmp_path / PROFILES).stat().st_mode & 0o777 == 0o700
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "profile.json").stat().st_mode & 0o777 == 0o600
