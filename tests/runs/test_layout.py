from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from stepscope.errors import BadData, NotFound
from stepscope.records import RunMeta
from stepscope.runs.format.filesystem import file_system_type, is_remote
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run, is_run_folder, log_files, log_name, run_folders
from stepscope.runs.format.meta import read_meta

MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
proc /proc proc rw 0 0
server:/home /home nfs4 rw 0 0
/dev/sdb1 /home/me/fast xfs rw 0 0
me@far:/x /mnt/with\\040space fuse.sshfs rw 0 0
/dev/sdc1 /mnt/disk fuseblk rw 0 0
"""


def meta(**fields: object) -> RunMeta:
    return RunMeta(**{"id": new_run_id(), "project": "p", "name": "a/../b", "created": 1.5, **fields})  # type: ignore[arg-type]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_run_comes_back_as_it_was_made(store: Path) -> None:
    made = meta(config={"lr": 0.1, "deep/er": [1, None]}, tags=["é", "🙂"])
    path = create_run(store, made)
    assert path == store / made.id
    assert read_meta(path) == made
    assert is_run_folder(path)
    assert run_folders(store) == [path]
    assert [file.name for file in path.iterdir()] == ["meta.json"]


@pytest.mark.parametrize("umask", [0o000, 0o077, 0o777])
def test_a_run_is_private_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    (tmp_path / "store").mkdir()
    before = os.umask(umask)
    try:
        path = create_run(tmp_path / "store", meta())
    finally:
        os.umask(before)
    assert mode(path) == 0o700
    assert mode(path / "meta.json") == 0o600


def test_a_name_is_never_a_path_and_a_taken_id_is_refused(store: Path) -> None:
    for bad in ("../out", "", "a/b", "x" * 26):
        with pytest.raises(BadData, match="not a run id"):
            create_run(store, meta(id=bad))
    made = meta()
    create_run(store, made)
    with pytest.raises(FileExistsError):
        create_run(store, made)


@pytest.mark.parametrize(
    "text", [b"", b"{}", b"null", b"[" * 100_000, b'{"id": 3}', b"\xff\xfe", b"{" + b" " * (17 << 20)]
)
def test_nonsense_in_place_of_a_meta_file_is_told_from_a_missing_one(tmp_path: Path, text: bytes) -> None:
    with pytest.raises(NotFound, match="not a run folder"):
        read_meta(tmp_path)
    (tmp_path / "meta.json").write_bytes(text)
    with pytest.raises(BadData, match=r"meta\.json"):
        read_meta(tmp_path)


def test_a_run_of_a_newer_format_says_what_to_do(store: Path) -> None:
    path = create_run(store, meta(format=99))
    with pytest.raises(BadData, match=r"format 99.*pip install -U"):
        read_meta(path)


def test_objects_in_a_config_are_kept_as_text(store: Path) -> None:
    path = create_run(store, meta(config={"where": Path("/x")}))
    assert read_meta(path).config == {"where": "/x"}


def test_log_files_are_listed_by_name_without_the_half_written(tmp_path: Path) -> None:
    for name in ("b.log", "a.log", ".c.log", "d.txt"):
        (tmp_path / name).touch()
    assert [file.name for file in log_files(tmp_path)] == ["a.log", "b.log"]
    assert log_files(tmp_path / "nowhere") == []
    assert run_folders(tmp_path / "nowhere") == []


def test_a_hostile_host_name_stays_inside_the_folder() -> None:
    name = log_name("../../etc\0\n" + "x" * 300, 3, 41, "../b", "01J", "points", 12)
    assert "/" not in name
    assert "\0" not in name
    assert len(name) < 120
    assert name.endswith(".3.41.b.01J.points.000012.log")


def test_network_file_systems_are_known_by_their_mount() -> None:
    assert file_system_type(Path("/home/other/run"), MOUNTS) == "nfs4"
    assert file_system_type(Path("/home/me/fast/run"), MOUNTS) == "xfs"
    assert file_system_type(Path("/home/me/faster"), MOUNTS) == "nfs4"
    assert is_remote(Path("/home/other"), MOUNTS)
    assert is_remote(Path("/mnt/with space/run"), MOUNTS)
    assert not is_remote(Path("/mnt/disk/run"), MOUNTS)
    assert not is_remote(Path("/var/tmp"), MOUNTS)
    assert not is_remote(Path("/"), "")
