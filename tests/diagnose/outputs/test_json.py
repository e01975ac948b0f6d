from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from stepscope.diagnose.outputs.json import read, write
from stepscope.errors import StorageError
from stepscope.records import Finding, Related
from stepscope.records.verdict import Answer, ScriptVerdict

FOUND = Finding(
    rule="opt.no-zero-grad",
    severity="error",
    message="gradients pile up \udcff",
    file="train.py",
    line=88,
    evidence={
        "norm": [1.0, float("inf")],
        "seed": 2**80,
        "kind": {"a": (1, float("nan"))},
        "odd": object,
        "np": np.int64(3),
    },
    related=[Related(file="m.py", line=2, label="made here")],
)


def test_every_field_is_there_and_odd_numbers_are_words(tmp_path: Path) -> None:
    write([FOUND], tmp_path / "found.json")
    (found,) = json.loads((tmp_path / "found.json").read_text(), parse_constant=pytest.fail)["findings"]
    assert {"rule", "severity", "file", "line", "message", "evidence", "fix"} <= found.keys()
    assert found["evidence"] == {
        "norm": [1.0, "Infinity"],
        "seed": str(2**80),
        "kind": {"a": [1, "NaN"]},
        "odd": "<class 'object'>",
        "np": 3,
    }
    assert found["related"] == [{"file": "m.py", "line": 2, "label": "made here", "source": []}]
    assert found["message"] == "gradients pile up ?"


def test_paths_are_told_from_the_folder_the_user_stands_in(tmp_path: Path) -> None:
    below, elsewhere = str(tmp_path / "src" / "train.py"), "/elsewhere/m.py"
    found = replace(FOUND, file=below, related=[Related(file=elsewhere, line=1)])
    write([found], tmp_path / "found.json", root=tmp_path)
    (told,) = json.loads((tmp_path / "found.json").read_text())["findings"]
    assert (told["file"], told["related"][0]["file"]) == ("src/train.py", elsewhere)


def test_one_document_has_the_worst_verdict_the_counts_and_all_fields(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b" / "found.json"
    answers = [Answer("the model can overfit one batch", "passed", "loss 2 -> 0.1")]
    scripts = [
        ScriptVerdict(script=str(tmp_path / "good.py"), verdict="passed", steps=3, exit_code=0, answers=answers),
        ScriptVerdict(script="bad.py", verdict="suspicious"),
    ]
    write([FOUND, replace(FOUND, severity="info")], target, tmp_path, scripts=scripts)
    told = json.loads(target.read_text())
    assert list(told) == ["version", "command", "verdict", "counts", "scripts", "findings"]
    assert (told["version"], told["command"], told["verdict"]) == (1, "check", "suspicious")
    assert told["counts"] == {"error": 1, "warning": 0, "info": 1}
    assert told["scripts"][0] == {
        "script": "good.py", "verdict": "passed", "headline": "", "tried": "", "watched": "",
        "steps": 3, "exit_code": 0,
        "answers": [{"question": "the model can overfit one batch", "state": "passed", "said": "loss 2 -> 0.1"}],
    }  # fmt: skip
    again = read(target)
    assert again is not None
    assert [one.severity for one in again.findings] == ["error", "info"]


@pytest.mark.parametrize("text", [None, "", "[]", '{"error": {}}'])
def test_what_is_no_such_document_is_none(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "found.json").write_text(text)
    assert read(tmp_path / "found.json") is None


def test_a_dash_is_the_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    write([FOUND], "-")
    assert json.loads(capsys.readouterr().out)["findings"][0]["rule"] == "opt.no-zero-grad"


def test_the_file_is_replaced_at_once_and_nothing_else_is_left(tmp_path: Path) -> None:
    target = tmp_path / "found.json"
    target.write_text("old")
    link = tmp_path / "link.json"
    link.symlink_to(target)
    write([], link)
    assert (json.loads(target.read_text())["findings"], link.is_symlink()) == ([], True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["found.json", "link.json"]
    assert stat.S_IMODE(target.stat().st_mode) & stat.S_IRUSR


def test_a_device_is_written_to_and_not_replaced() -> None:
    write([], os.devnull)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match=r"found.json could not be written: .*; choose another file"):
        write([], tmp_path / "file" / "found.json")
