"""Edits reach files whole, as they were encoded, and never over changes made since."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepscope.diagnose.edits.apply import changed_text, read_source, unified, write_sources
from stepscope.diagnose.edits.spans import digest
from stepscope.errors import Conflict
from stepscope.records import TextChange


def test_a_change_is_refused_when_the_text_is_another() -> None:
    text = "a = 1\nb = 2\n"
    change = TextChange(file="t.py", line=2, old=["b = 2"], new=["b = 3"], sha256=digest(text))
    assert changed_text(text, [change]) == "a = 1\nb = 3\n"
    with pytest.raises(Conflict, match=r"t\.py has changed since"):
        changed_text("a = 0\nb = 2\n", [change])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a = 1\r\nb = 2\r\n", b"a = 7\r\nb = 2\r\n"),
        (b"a = 1\nb = 2", b"a = 7\nb = 2"),
        (b"# coding: latin-1\n\xe9 = 1\n", b"# coding: latin-1\n\xe9 = 7\n"),
    ],
)
def test_line_ends_encoding_and_permissions_stay(tmp_path: Path, before: bytes, after: bytes) -> None:
    file = tmp_path / "train.py"
    file.write_bytes(before)
    file.chmod(0o750)
    known = read_source(file)
    write_sources({str(file): known.replace("= 1", "= 7")}, {str(file): known})
    assert file.read_bytes() == after
    assert file.stat().st_mode & 0o777 == 0o750
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_edited_meanwhile_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text("a = 1\n")
    known = read_source(file)
    file.write_text("a = 2\n")
    with pytest.raises(Conflict, match="edited in the meantime"):
        write_sources({str(file): "a = 3\n"}, {str(file): known})
    assert file.read_text() == "a = 2\n"


def test_the_diff_is_one_that_patch_reads() -> None:
    told = unified({"t.py": "a\nb\n"}, {"t.py": "a\nc\n"}, str)
    assert told == "--- a/t.py\n+++ b/t.py\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
