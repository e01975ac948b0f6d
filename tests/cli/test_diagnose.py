"""`stepscope diagnose` as a person types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.runs.making import make_run

from stepscope.cli.main import main


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main(["diagnose", *words])
    out, err = capsys.readouterr()
    return int(left.value.code or 0), out, err


def test_one_run_says_what_is_wrong_and_what_was_looked_at(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_run(store, "bad", series={"loss": [1.0, 0.5, float("nan"), float("nan")]})
    code, out, _ = said(capsys, "bad", "--dir", str(store))
    assert code == 1
    assert "error[run.loss-not-finite]: loss became NaN at step 2" in out
    assert "Checked: 1 loss or metric." in out
    assert "Not watched: run the script with `stepscope run`" in out


def test_all_runs_in_brief_and_those_that_cannot_be_read_are_named(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_run(store, "good", series={"loss": [1.0, 0.5]})
    (store / "broken").mkdir()
    (store / "broken" / "meta.json").write_text("{")
    code, out, err = said(capsys, "--all", "--dir", str(store))
    assert (code, out.split()) == (0, ["good", "finished", "nothing", "found"])
    assert err.startswith("broken cannot be read: ")


def test_many_runs_are_looked_at_by_several_processes(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(30):
        make_run(store, f"run-{number:02}", series={"loss": [1.0, float("nan") if number % 10 == 7 else 0.5]})
    code, out, _ = said(capsys, "--all", "--dir", str(store), "--json")
    documents = json.loads(out)
    bad = [one["name"] for one in documents if one["findings"]]
    assert (code, len(documents), sorted(bad)) == (1, 30, ["run-07", "run-17", "run-27"])


def test_a_query_that_selects_none_is_an_empty_answer(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_run(store, "good", series={"loss": [1.0]})
    code, out, _ = said(capsys, "--query", "status = failed", "--dir", str(store), "--json")
    assert (code, json.loads(out)) == (0, [])
    _, out, _ = said(capsys, "--query", "status = failed", "--dir", str(store))
    assert out == "No run was chosen: the store is empty, or the query selects none.\n"
