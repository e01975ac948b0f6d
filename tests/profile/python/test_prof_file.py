"""`.prof` files: read as `pstats` reads them, and garbage answered with one sentence."""

from __future__ import annotations

import cProfile
import marshal
import pstats
import random
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from stepscope.errors import BadData, NotFound
from stepscope.profile.python.prof_file import prof_bytes, read_prof, stats_in, write_prof
from stepscope.profile.python.stats import Calls, ProfStats


def real_bytes(tmp_path: Path) -> bytes:
    profile = cProfile.Profile()
    profile.enable()
    sorted([str(number) for number in range(300)], key=lambda text: text[::-1])
    pstats.Stats(profile)
    profile.disable()
    profile.dump_stats(tmp_path / "real.prof")
    return (tmp_path / "real.prof").read_bytes()


def test_reads_what_cprofile_wrote(tmp_path: Path) -> None:
    raw = real_bytes(tmp_path)
    assert stats_in(raw).as_dict() == marshal.loads(raw)
    assert read_prof(tmp_path / "real.prof").as_dict() == pstats.Stats(str(tmp_path / "real.prof")).stats  # type: ignore[attr-defined]


@pytest.mark.parametrize("version", range(5))
def test_reads_every_version_of_marshal(tmp_path: Path, version: int) -> None:
    known = marshal.loads(real_bytes(tmp_path))
    assert stats_in(marshal.dumps(known, version)).as_dict() == known


def test_large_counts_survive() -> None:
    many = 2**40 + 7
    stats = ProfStats.of({("a.py", 1, "f"): (many, many, 0.5, 1.5, {("b.py", 2, "g"): (many, many, 0.5, 1.5)})})
    assert stats_in(prof_bytes(stats)) == stats


def test_the_old_profile_module_counts_callers_only() -> None:
    raw = marshal.dumps({("a.py", 1, "f"): (2, 2, 0.5, 1.5, {("b.py", 2, "g"): 2})})
    found = stats_in(raw)
    assert found.counts_only
    assert found.functions["a.py", 1, "f"].callers["b.py", 2, "g"] == Calls(2, 2, 0.0, 0.0)
    assert prof_bytes(found) == prof_bytes(stats_in(raw))


def test_written_files_are_read_by_pstats_and_by_us(tmp_path: Path) -> None:
    stats = stats_in(real_bytes(tmp_path))
    write_prof(stats, tmp_path / "again.prof")
    assert read_prof(tmp_path / "again.prof") == stats
    assert pstats.Stats(str(tmp_path / "again.prof")).stats == stats.as_dict()  # type: ignore[attr-defined]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.prof", "real.prof"]


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no file"):
        read_prof(tmp_path / "none.prof")


KEY = marshal.dumps(("a.py", 1, "f"), 2)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "is empty"),
        (b"\x89PNG\r\n\x1a\n", "which no profile has"),
        (b"{", "it ends in the middle"),
        (b"c" + b"\0" * 40, "which no profile has"),
        (marshal.dumps([1, 2]), "which no profile has"),
        (marshal.dumps((1, 2), 2), "not a dict"),
        (marshal.dumps({"a": 1}, 2), "an entry is not for a function"),
        (marshal.dumps({("a", 1, "f"): 1}, 2), "has not the five parts"),
        (marshal.dumps({("a", 1, "f"): (1, 1, 1.0, 1.0, {("b", 2, "g"): "x"})}, 2), "has not the four parts"),
        (marshal.dumps({("a", 1, "f"): (1, 1, float("nan"), 1.0, {})}, 2), "has not the five parts"),
        (b"(" + struct.pack("<i", 2**31 - 1), "a tuple of 2147483647"),
        (b"u" + struct.pack("<i", 2**31 - 1) + b"x", "it ends in the middle"),
        (b"u" + struct.pack("<i", -5), "it ends in the middle"),
        (b"l" + struct.pack("<i", 2**30) + b"\xff" * 64, "too large"),
        (b"r" + struct.pack("<i", 7), "refers to something"),
        (b"\xa8" + struct.pack("<i", 1) + b"r" + struct.pack("<i", 0), "refers to something"),
        (b")\x01" * 5000, "nested deeper"),
        (b"{" * 5000, "nested deeper"),
    ],
)  # fmt: skip
def test_garbage_is_answered_with_one_sentence(raw: bytes, said: str) -> None:
    with pytest.raises(BadData, match=said):
        stats_in(raw, "run.prof")


def test_random_damage_never_escapes(tmp_path: Path) -> None:
    raw = bytearray(real_bytes(tmp_path))
    choice = random.Random(5)
    for _ in range(400):
        damaged = bytearray(raw[: choice.randrange(len(raw))] if choice.random() < 0.3 else raw)
        for _ in range(choice.randrange(1, 6)):
            if damaged:
                damaged[choice.randrange(len(damaged))] = choice.randrange(256)
        try:
            stats_in(bytes(damaged))
        except BadData:
            pass


def bomb() -> bytes:
    """Two million entries, each a caller dict of its own."""
    entry = marshal.dumps((1, 1, 0.5, 0.5, {}), 2)
    parts = [b"{"]
    for number in range(700_000):
        parts += [b"(\x03\0\0\0", marshal.dumps("f.py", 2), b"i", struct.pack("<i", number), b"a\1\0\0\0g", entry]
    return b"".join(parts) + b"0"


def test_a_huge_file_is_refused_within_seconds(tmp_path: Path) -> None:
    (tmp_path / "huge.prof").write_bytes(bomb())
    (tmp_path / "sparse.prof").touch()
    with (tmp_path / "sparse.prof").open("r+b") as file:
        file.truncate(3 << 30)
    code = """
import resource, sys, time
from stepscope.errors import BadData
from stepscope.profile.python.prof_file import read_prof
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
for name in sys.argv[1:]:
    began = time.process_time()
    try:
        print("read", len(read_prof(name).functions))
    except BadData as said:
        print("refused", said)
    assert time.process_time() - began < 6, time.process_time() - began
"""
    names = [str(tmp_path / name) for name in ("huge.prof", "sparse.prof")]
    done = subprocess.run([sys.executable, "-c", code, *names], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first.startswith(("read 700000", "refused"))
    assert "has 3 GiB" in second
