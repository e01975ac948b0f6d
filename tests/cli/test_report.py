"""`stepscope report` as a user types it."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from stepscope.cli.main import main

from .conftest import Result

Cli = Callable[..., Result]
Typed = Callable[..., tuple[str, str]]


@pytest.fixture
def typed(small_store: Path, capsys: pytest.CaptureFixture[str]) -> Typed:
    """The command in this process, which is quicker; what it printed to stdout and to stderr."""

    def run(*args: str) -> tuple[str, str]:
        main([*args, "--dir", str(small_store)])
        said = capsys.readouterr()
        return said.out, said.err

    return run


@pytest.fixture(autouse=True)
def template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    static = tmp_path / "static"
    static.mkdir()
    (static / "report-viewer.html").write_text('<title>x</title><script id="report-pack"></script>')
    monkeypatch.setenv("STEPSCOPE_STATIC", str(static))


def test_runs_become_one_page(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    done = cli("report", "lr 0.1", "lr 0.01", "-o", str(out))
    assert "<title>lr 0.1 against lr 0.01 · Stepscope</title>" in out.read_text()
    assert f"{out}: " in done.stderr
    assert "3 panels, 2 runs" in done.stderr
    assert done.stdout == ""


def test_a_file_that_is_there_is_not_written_over(
    small_store: Path, typed: Typed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "report.html"
    out.write_text("mine")
    with pytest.raises(SystemExit) as ended:
        typed("report", "lr 0.1", "-o", str(out))
    assert ended.value.code == 2
    assert "already exists; give another name, or overwrite it with --force" in capsys.readouterr().err
    assert out.read_text() == "mine"
    typed("report", "lr 0.1", "-o", str(out), "--force")
    assert "<title>" in out.read_text()


def test_a_draft_is_printed_and_a_text_becomes_markdown_with_pictures(typed: Typed, tmp_path: Path) -> None:
    text, _ = typed("report", "--new", "--query", "project = vae", "--title", "Two rates")
    assert text.startswith("---\ntitle: Two rates\nquery: project = vae\n---\n")
    source, out = tmp_path / "my.md", tmp_path / "out.md"
    source.write_text(text)
    typed("report", str(source), "-o", str(out))
    assert "![Chart of loss](out-images/loss.svg)" in out.read_text()
    assert (tmp_path / "out-images" / "loss.svg").read_text().startswith("<svg")
    typed("report", str(source), "-o", str(tmp_path / "out.zip"))
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        assert "images/loss.svg" in archive.namelist()


def test_mistakes_in_a_text_are_told_with_their_line(typed: Typed, tmp_path: Path) -> None:
    source = tmp_path / "my.md"
    source.write_text("# Hi\n\n```stepscope chart\nkey: los\nruns: lr 0.1\n```\n")
    _, said = typed("report", str(source), "-o", str(tmp_path / "my.html"))
    assert "line 3: none of the runs has 'los'; did you mean loss?" in said


def test_a_report_is_kept_listed_and_made_again(small_store: Path, typed: Typed, tmp_path: Path) -> None:
    _, said = typed("report", "lr 0.1", "--save", "--title", "Kept \x1b[31mred")
    try:
        (row,) = json.loads(typed("report", "--list", "--json")[0])
        assert row["id"] in said
        listed, _ = typed("report", "--list")
        assert "\x1b" not in listed
        assert "version 1" in listed
        typed("report", row["id"], "-o", str(tmp_path / "again.html"))
        assert (tmp_path / "again.html").exists()
    finally:
        shutil.rmtree(small_store / "reports")
    assert "no reports yet" in typed("report", "--list")[1]


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        ((), 2, "name one or more runs, a Markdown file or a report, or give --query"),
        (("lr 0.1",), 2, "give a file with -o report.html"),
        (("lr 0.1", "-o", "x.docx"), 2, "the name must end in .html, .pdf, .zip, .md"),
        (("lr 0.1", "-o", "no/such/x.html"), 3, "there is no folder 'no/such'"),
        (("lr 0", "-o", "x.html"), 3, "did you mean 'lr 0.01' or 'lr 0.1'?"),
        (("none.md", "-o", "x.html"), 3, "there is no file 'none.md'"),
        (("--query", "lr <", "-o", "x.html"), 2, "error:"),
        (("--query", "loss.last > 1e9", "-o", "x.html"), 3, "no run matches 'loss.last > 1e9'"),
        (("lr 0.1", "--template", "x", "--new"), 2, "there is no template 'x'; there are runs, blank"),
    ],
)
def test_bad_input_is_one_clear_line(
    small_store: Path, capsys: pytest.CaptureFixture[str], args: tuple[str, ...], code: int, message: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["report", *args, "--dir", str(small_store)])
    said = capsys.readouterr().err
    assert ended.value.code == code, said
    assert message in said


def test_without_a_browser_a_pdf_is_refused_in_words(
    small_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEPSCOPE_BROWSER", "no-such-browser")
    with pytest.raises(SystemExit) as ended:
        main(["report", "lr 0.1", "-o", str(tmp_path / "x.pdf"), "--dir", str(small_store)])
    said = capsys.readouterr().err
    assert ended.value.code == 7
    assert "looked for Chromium, Chrome, Edge and Brave" in said
    assert "save the report as .html" in said
    assert not (tmp_path / "x.pdf").exists()
