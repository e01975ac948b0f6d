"""`stepscope export-site`: a folder that any web server shows, and that says nothing it should not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from stepscope.cli.main import main


@pytest.fixture(autouse=True)
def template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    static = tmp_path / "static"
    static.mkdir()
    (static / "report-viewer.html").write_text('<title>x</title><script id="report-pack"></script>')
    monkeypatch.setenv("STEPSCOPE_STATIC", str(static))


def test_every_run_has_a_row_and_a_page_and_every_link_leads_somewhere(small_store: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    main(["export-site", str(site), "--dir", str(small_store), "--title", "Mine & yours"])
    index = (site / "index.html").read_text()
    assert "<h1>Mine &amp; yours</h1>" in index
    links = re.findall(r"href='([^']+)'", index)
    assert len(links) == 4  # three runs and the charts
    assert all((site / link).is_file() for link in links)
    assert (site / ".nojekyll").exists()


def test_what_runs_are_called_is_never_markup_and_paths_stay_at_home(small_store: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    main(["export-site", str(site), "--dir", str(small_store)])
    pages = [page.read_text() for page in site.rglob("*.html")]
    assert len(pages) == 5
    assert all("\x1b" not in page and str(small_store) not in page for page in pages)
    assert "<script" not in (site / "index.html").read_text()


def test_a_query_and_a_limit_choose_the_runs_and_the_page_says_what_is_missing(
    small_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = tmp_path / "site"
    main(["export-site", str(site), "--dir", str(small_store), "-q", "project = vae", "--most", "1"])
    assert "2 runs" in capsys.readouterr().out
    assert len(list((site / "runs").iterdir())) == 1
    assert "The newest 1 of 2 runs have their own page." in (site / "index.html").read_text()


@pytest.mark.parametrize(
    ("extra", "code", "words"),
    [([], 2, "is not empty"), (["--force", "-q", "name = nobody"], 3, "no run matches")],
)
def test_a_folder_with_something_in_it_and_a_query_that_finds_nothing_are_refused(
    small_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], extra: list[str], code: int, words: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["export-site", str(tmp_path), "--dir", str(small_store), *extra])
    assert ended.value.code == code
    assert words in capsys.readouterr().err
