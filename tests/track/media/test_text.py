"""Text, Markdown, HTML and files are kept byte by byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepscope.errors import UsageError
from stepscope.track.media import File, Html, Markdown, Text


@pytest.mark.parametrize("text", ["", "plain", "naïve 🧪 \u202e rtl \x00", "<script>alert(1)</script>"])
def test_text_comes_back(text: str) -> None:
    [(record, data)] = Text(text).encode("k", 0, 0.0)
    assert (record.kind, record.mime, record.meta) == ("text", "text/plain; charset=utf-8", {"format": "plain"})
    assert data == text.encode()


def test_a_lone_surrogate_stays_visible() -> None:
    assert Text("a\ud800b").encode("k", 0, 0.0)[0][1] == b"a\\ud800b"


def test_markdown_says_so() -> None:
    for made in (Markdown("# hi", caption="c"), Text("# hi", markdown=True, caption="c")):
        [(record, _)] = made.encode("k", 0, 0.0)
        assert record.meta == {"format": "markdown", "caption": "c"}


def test_html_from_a_string_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "x.html").write_text("<b>bold</b>")
    for made in (Html("<b>bold</b>"), Html(tmp_path / "x.html")):
        [(record, data)] = made.encode("k", 0, 0.0)
        assert (record.kind, record.mime, data) == ("html", "text/html", b"<b>bold</b>")


def test_a_file_keeps_its_name_and_bytes_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "predictions.csv"
    path.write_text("a,b\n")
    file = File(path, caption="c")
    path.write_text("changed")
    [(record, data)] = file.encode("k", 0, 0.0)
    assert (record.kind, record.mime, data) == ("file", "text/csv", b"a,b\n")
    assert record.meta == {"name": "predictions.csv", "caption": "c"}


def test_what_is_wrong_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="must be a string, not a int"):
        Text(3).encode("k", 0, 0.0)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"must be a string or a pathlib\.Path"):
        Html(b"x").encode("k", 0, 0.0)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="8,388,609 characters"):
        Text("x" * ((8 << 20) + 1)).encode("k", 0, 0.0)
    with pytest.raises(UsageError, match="is a folder"):
        File(tmp_path).encode("k", 0, 0.0)
    with pytest.raises(UsageError, match="is missing"):
        File("a\0b").encode("k", 0, 0.0)
    monkeypatch.setattr("stepscope.track.media.file.MAX_BYTES", 2)
    (tmp_path / "big").write_bytes(b"123")
    with pytest.raises(UsageError, match=r"3 bytes, more than the 2 .* use run\.log_artifact"):
        File(tmp_path / "big").encode("k", 0, 0.0)
